/** Names of counted events, from the control registers beside the counters. */
import { isCounter, type RawKey, type RawSchema } from '../../../formats/tacc/index.ts';
import { unitOf } from '../units.ts';
import { AMD_10H, AMD_ZEN, CORE_EVENTS, CORE_FIXED, NHM_EVENTS } from './core.ts';
import type { EventNames } from './event-names.ts';
import * as uncore from './uncore.ts';

/** A value and its name. */
export interface NamedKey {
  readonly type: string;
  readonly name: string;
  readonly kind: RawKey['kind'];
  /** Factor for the value. */
  readonly times: number;
  readonly unit: string;
}

interface Naming {
  readonly events: EventNames;
  /** Names of FIXED_CTR0, FIXED_CTR1, …; a single FIXED_CTR is the first. */
  readonly fixed: readonly string[];
  /** The type under which its values are listed, if that is another. */
  readonly type?: string;
  /** Bytes that one event moves. */
  readonly bytes?: number;
}

const CORE: Naming = { events: CORE_EVENTS, fixed: CORE_FIXED };
const NHM: Naming = { events: NHM_EVENTS, fixed: CORE_FIXED };
const KNL: Readonly<Record<string, Naming>> = {
  intel_knl_edc0: { events: uncore.KNL_EDC_UCLK, fixed: [], type: 'intel_knl_edc_uclk' },
  intel_knl_edc2: { events: uncore.KNL_EDC_ECLK, fixed: [], type: 'intel_knl_edc_eclk' },
  intel_knl_mc0: { events: uncore.KNL_MC_UCLK, fixed: [], type: 'intel_knl_mc_uclk' },
  intel_knl_mc2: { events: uncore.KNL_MC_DCLK, fixed: [], type: 'intel_knl_mc_dclk' },
  intel_knl_mc3: { events: uncore.KNL_MC_DCLK, fixed: [], type: 'intel_knl_mc_dclk' },
  intel_knl_mc4: { events: uncore.KNL_MC_DCLK, fixed: [], type: 'intel_knl_mc_dclk' },
};

/** By the end of a type's name, after `intel_MODEL`. */
const BOXES: readonly (readonly [RegExp, Naming])[] = [
  [/^intel_\w+_cbo(_ht)?$/, { events: uncore.CBO, fixed: [] }],
  [/^intel_\w+_hau$/, { events: uncore.HAU, fixed: [] }],
  [/^intel_\w+_imc$/, { events: uncore.IMC, fixed: ['CYCLES'] }],
  [/^intel_(\w+_)?pcu$/, { events: uncore.PCU, fixed: ['C3_CYCLES', 'C6_CYCLES'] }],
  [/^intel_\w+_qpi$/, { events: uncore.QPI, fixed: [] }],
  [/^intel_\w+_r2pci$/, { events: uncore.R2PCI, fixed: [] }],
  [/^intel_\w+_cha$/, { events: uncore.CHA, fixed: [] }],
  [/^intel_uncore$/, { events: uncore.NHM_UNCORE, fixed: ['CLOCKS_UNCORE'] }],
  [/^intel_(nhm|wtm|pmc3)$/, NHM],
  [/^intel_(snb|ivb|hsw|hsw_ht|bdw|knl|skx|4pmc3|8pmc3)$/, CORE],
  [/^amd64_df$/, { events: uncore.AMD_DF, fixed: [], bytes: 64 }],
  [/^amd64_umc$/, { events: uncore.AMD_UMC, fixed: [] }],
  [/^amd64_pmc$/, { events: AMD_ZEN, fixed: [] }],
];

function namingOf(type: string, device: string): Naming | null {
  // The PCI function number distinguishes the two boxes.
  const knl = KNL[type + (device.split('.').at(-1) ?? '')];
  return knl ?? BOXES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

const COUNTER = /^(?:CTR|PMC)(\d+)$/;
const FIXED = /^FIXED_CTR(\d*)$/;

function plainKey(type: string, key: RawKey): NamedKey {
  const { times, unit } = unitOf(key.unit);
  return { type, name: key.name, kind: isCounter(type, key) ? 'event' : key.kind, times, unit };
}

/** Family 10h has four control registers and four counters; 17h and 19h have more. */
const is10h = ({ type, keys }: RawSchema) => type === 'amd64_pmc' && keys.length === 8;

/**
 * The name of each value of a device's records; null for control registers. `values` is the device's first record,
 * whose control registers are used. Events that are in no table are named by their register's value.
 */
export function nameKeys(
  schema: RawSchema,
  device: string,
  values: BigUint64Array,
): readonly (NamedKey | null)[] {
  const { type, keys } = schema;
  const naming = namingOf(type, device);
  const control = (number: string) =>
    keys.findIndex(({ name }) => name === `CTL${number}` || name === `PERFEVTSEL${number}`);
  return keys.map((key) => {
    if (naming === null) return plainKey(type, key);
    const plain = plainKey(naming.type ?? type, key);
    if (!isCounter(type, key)) return key.kind === 'control' ? null : plain;
    const fixed = FIXED.exec(key.name);
    if (fixed !== null) {
      return { ...plain, name: naming.fixed[Number(fixed[1] || 0)] ?? key.name };
    }
    const number = COUNTER.exec(key.name)?.[1];
    const register = number === undefined ? -1 : control(number);
    if (register < 0) return plain;
    const value = values[register];
    const amd = is10h(schema) ? AMD_10H.get(value) : undefined;
    if (amd !== undefined) {
      const bytes = amd.bytes > 0;
      return {
        ...plain,
        type: amd.type,
        name: amd.name,
        times: bytes ? amd.bytes : 1,
        unit: bytes ? 'B' : '',
      };
    }
    const name = naming.events.get(value) ?? String(value);
    return naming.bytes === undefined
      ? { ...plain, name }
      : { ...plain, name, times: naming.bytes, unit: 'B' };
  });
}
