/**
 * frequency_map: a frequency limit for each region, and one for all else. Source: GEOPM's
 * geopm_agent_frequency_map(7).
 */
import { hashText } from '../../formats/geopm/write.ts';
import type { Platform } from '../platform.ts';
import {
  type Agent,
  type AgentContext,
  type AgentKind,
  IDLE,
  type Policy,
  PolicyError,
  type PolicyField,
} from './agent.ts';
import {
  type FrequencyLimits,
  GPU_LIMITS,
  hasControl,
  PinnedFrequency,
  UNCORE_LIMITS,
} from './pinned-frequency.ts';

const DEFAULT = 'FREQ_CPU_DEFAULT';
const CONTROL = 'CPU_FREQUENCY_MAX_CONTROL';
/** The one uncore or GPU frequency for the whole run that the policy gives, if any, held by both limits. */
const FIXED: readonly (PolicyField & { readonly limits: FrequencyLimits })[] = [
  {
    name: 'FREQ_CPU_UNCORE',
    unit: 'Hz',
    help: 'frequency outside the cores; as it is where absent',
    limits: UNCORE_LIMITS,
  },
  {
    name: 'FREQ_GPU_DEFAULT',
    unit: 'Hz',
    help: 'frequency of GPUs; as it is where absent',
    limits: GPU_LIMITS,
  },
];
/** Pairs of HASH_n and FREQ_n. */
const PAIRS = 31;

const PAIR_FIELDS: readonly PolicyField[] = Array.from({ length: PAIRS }, (_, n) => [
  { name: `HASH_${n}`, unit: '', help: 'hash of a region' },
  { name: `FREQ_${n}`, unit: 'Hz', help: `frequency limit in the region of HASH_${n}` },
]).flat();

export const frequencyMap: AgentKind = {
  name: 'frequency_map',
  help: 'limits the frequency, region by region',
  period: 0.002,
  policy: [
    { name: DEFAULT, unit: 'Hz', help: 'frequency limit wherever no other is given' },
    ...FIXED.map(({ limits: _, ...field }) => field),
    ...PAIR_FIELDS,
  ],
  open,
};

function mapOf(policy: Policy): Map<number, number> {
  const map = new Map<number, number>();
  for (let n = 0; n < PAIRS; n++) {
    const [hash, frequency] = [policy[`HASH_${n}`], policy[`FREQ_${n}`]];
    if (Number.isNaN(hash) !== Number.isNaN(frequency)) {
      throw new PolicyError(`frequency_map: HASH_${n} and FREQ_${n} belong together`);
    }
    if (Number.isNaN(hash)) continue;
    if (map.has(hash))
      throw new PolicyError(`frequency_map: HASH_${n} ${hashText(hash)} is given twice`);
    map.set(hash, frequency);
  }
  return map;
}

interface Part {
  readonly control: number;
  readonly hash: number;
  set: number;
}

/** A domain that is limited as a whole, such as a CPU. It is pushed before anything is written, so that its present settings can be saved. */
function partsOf(platform: Platform): Part[] {
  const info = platform.controls.list().find((c) => c.name === CONTROL || c.alias === CONTROL);
  // Where the machine has no such control, the push reports it.
  const domain = info?.domain ?? 'board';
  return platform.topology.indices(domain).map((index) => ({
    control: platform.controls.push(CONTROL, domain, index),
    hash: platform.push('REGION_HASH', domain, index),
    set: Number.NaN,
  }));
}

function open({ platform, allowControl, warn }: AgentContext): Agent {
  const parts = allowControl ? partsOf(platform) : [];
  if (!allowControl) {
    warn('frequency_map changes nothing: --allow-control permits it to write frequency limits');
  }
  const fixed = new Map<string, PinnedFrequency>();
  for (const { name, limits } of allowControl ? FIXED : []) {
    const isThere = [limits.least, limits.most].every((control) => hasControl(platform, control));
    if (isThere) fixed.set(name, new PinnedFrequency(platform, limits, 'board', 0));
  }
  let policy: Policy | null = null;
  let map = new Map<number, number>();
  const limitOf = (hash: number) => map.get(hash) ?? policy?.[DEFAULT] ?? Number.NaN;

  const fix = (given: Policy) => {
    for (const { name } of FIXED) {
      if (!Number.isNaN(given[name])) fixed.get(name)?.set(given[name]);
    }
  };

  return {
    ...IDLE,
    validatePolicy: (given) => {
      const any = mapOf(given).size > 0;
      for (const { name, limits } of FIXED) {
        const canApply = !allowControl || fixed.has(name);
        if (Number.isNaN(given[name]) || canApply) continue;
        warn(`frequency_map: ${name} is not applied: this machine has no ${limits.most}`);
      }
      if (Number.isNaN(given[DEFAULT])) {
        const which = any ? 'with a map, all else needs a limit too' : 'nothing to do';
        throw new PolicyError(`frequency_map: the policy lacks ${DEFAULT}, in Hz: ${which}`);
      }
    },
    adjust: (given) => {
      if (given !== policy) {
        policy = given;
        map = mapOf(given);
        fix(given);
      }
      for (const part of parts) {
        const limit = limitOf(platform.sample(part.hash));
        if (limit === part.set) continue;
        platform.controls.adjust(part.control, limit);
        part.set = limit;
      }
    },
    // A limit without permission was not applied, and is not reported.
    reportHost: () => {
      if (parts.length === 0) return IDLE.reportHost();
      const entries = [...map].map(([hash, limit]): [string, number] => [hashText(hash), limit]);
      return new Map([['Frequency map', new Map(entries)]]);
    },
    reportRegion: (hash) =>
      parts.length === 0 ? IDLE.reportRegion(hash) : new Map([['frequency-map', limitOf(hash)]]),
  };
}
