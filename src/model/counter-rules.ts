/**
 * Facts about counters beyond their schema: how fast they can count, where they roll over, whether they stick at their
 * maximum, and how far they may fall without a reset. Sources: the README of tacc_stats, the option tables of its
 * versions, the kernel's Documentation/block/stat, the InfiniBand specification's PortCounters; of processors the
 * vendors' data sheets and optimization manuals, as each constant says.
 */
import type { CounterRule } from './counter.ts';
import type { Metric } from './metric.ts';

/** The identification of a counter: a key of a schema of raw stats. */
interface CounterKey {
  readonly name: string;
  readonly kind: Metric['kind'];
  readonly bits: number;
  readonly unit: string;
}

/** Maximum counts per second, by unit. A CPU counts 100 cs per second; ms and us are summed over requests in flight. */
const BY_UNIT: Readonly<Record<string, number>> = {
  B: 1e12,
  '4B': 2.5e11,
  '512B': 2e9,
  KB: 1e9,
  kB: 1e9,
  flt: 1e10,
  cs: 200,
  ms: 1e7,
  us: 1e11,
  // 10 kW.
  mJ: 1e7,
  uJ: 1e10,
};
/** Eight events per cycle, the width at which Golden Cove and Zen 5 retire, at 6.2 GHz, the highest turbo frequency sold. */
const CORE = 5e10;
/** Clocks of a core: one a cycle. */
const CLOCKS = 6.2e9;
/**
 * Knights Landing: 1.7 GHz is the turbo frequency of its fastest model (7290), and a core retires two instructions a cycle
 * at most. Over minutes one is assumed: only tuned kernels come near two.
 */
const KNL_CLOCKS = 1.7e9;
const KNL_EVENTS = 3.4e9;
const KNL_LASTING = 1.7e9;
/** Boxes count some events several times per cycle, at up to 4 GHz; over minutes, as many as their clocks. */
const UNCORE = 2e10;
const UNCORE_LASTING = 5e9;
const SOFTWARE = 1e10;
/** Interrupts, switches and the like of one CPU, and other counts that the kernel keeps in 32 bits. */
const SOFTWARE_LASTING = 2e6;
/** Milliseconds per second, with as many requests as a queue of a block device holds. */
const BLOCK_MS = 1.1e6;
/** 1 kW for one package or its memory, twice the maximum sold, in steps of 2^-16 J, the finest. */
const WATTS = 1000;
const ENERGY_STEPS = WATTS * 2 ** 16;
const MILLI = 1000;
const MICRO = 1e6;

const HARDWARE = /^(intel|amd64)_(?!gpu$)/;
const UNCORE_TYPE = /_(cbo|cha|imc|qpi|hau|r2pci|pcu|uncore|mc|edc|df)(_|$)/;
/** Types whose counters the kernel keeps from boot on. Others restart with a driver, a mount, or a collector that clears them. */
const FROM_BOOT = new Set(['cpu', 'irq', 'numa', 'ps', 'sched', 'vm']);
const ENERGY = /_rapl$/;

const SMALL_DIP = 1 / 1000;
/** A counter that cannot be reset but may read much too low: `iowait` of an idle CPU is an estimate. */
const ANY_DIP = 1 / 2;

/** Bits at which counters of a port stick; those not listed have 32. */
const PORT_BITS: Readonly<Record<string, number>> = {
  excessive_buffer_overrun_errors: 4,
  local_link_integrity_errors: 4,
  link_downed: 8,
  link_error_recovery: 8,
  port_rcv_constraint_errors: 8,
  port_xmit_constraint_errors: 8,
  port_rcv_errors: 16,
  port_rcv_remote_physical_errors: 16,
  port_rcv_switch_relay_errors: 16,
  port_xmit_discards: 16,
  symbol_error: 16,
  VL15_dropped: 16,
};
/** Times in ms of block devices are 32 bits wide in the kernel, whatever their schema says. */
const BLOCK_TIMES = new Set(['rd_ticks', 'wr_ticks', 'io_ticks', 'time_in_queue']);
/** 2.x multiplied energies to mJ: 2^32 steps of 2^-16, 2^-15 or 2^-14 J. */
const SCALED_ENERGY = [65_536_000n, 131_072_000n, 262_144_000n];

const WIDEST = 64;

/**
 * Whether the key is a counter: event counters, and those of intel_4pmc3, whose schema calls them controls by mistake.
 * @example
 * ```ts
 * import { isCounter } from 'triscope/formats/tacc';
 *
 * isCounter('mem', { name: 'MemUsed', kind: 'gauge', bits: 64, unit: 'KB' }); // false: a state of the moment
 * ```
 */
export function isCounter(type: string, { name, kind }: CounterKey): boolean {
  return kind === 'event' || (type === 'intel_4pmc3' && kind === 'control' && /^CTR\d/.test(name));
}

function bitsOf(type: string, { name, bits }: CounterKey): number {
  if (bits < WIDEST) return bits;
  if (type === 'ib' || (type === 'block' && BLOCK_TIMES.has(name))) return 32;
  return bits;
}

function mostOf(type: string, { name, unit }: CounterKey): number {
  const byUnit = BY_UNIT[unit];
  if (byUnit !== undefined) return byUnit;
  if (!HARDWARE.test(type)) return SOFTWARE;
  if (type === 'intel_knl') return isClock(name) ? KNL_CLOCKS : KNL_EVENTS;
  return UNCORE_TYPE.test(type) ? UNCORE : CORE;
}

const isClock = (name: string) => /^FIXED_CTR[12]$|^CLOCKS_|^(APERF|MPERF)$/.test(name);

/** Counts per second that may last for minutes: see `CounterRule.lasting`. */
function lastingOf(type: string, key: CounterKey, scaledEnergy: boolean): number {
  const most = mostOf(type, key);
  if (ENERGY.test(type)) return scaledEnergy ? WATTS * MILLI : ENERGY_STEPS;
  if (type === 'powercap' || type === 'powercap_limit') return WATTS * MICRO;
  if (type === 'intel_knl') return isClock(key.name) ? KNL_CLOCKS : KNL_LASTING;
  if (HARDWARE.test(type)) {
    if (UNCORE_TYPE.test(type)) return UNCORE_LASTING;
    return isClock(key.name) ? CLOCKS : most;
  }
  if (type === 'block' && BLOCK_TIMES.has(key.name)) return BLOCK_MS;
  return bitsOf(type, key) <= 32 && type !== 'ib' ? Math.min(most, SOFTWARE_LASTING) : most;
}

/**
 * `scaledEnergy`: whether the file's collector rescaled energies (see `scalesEnergy`).
 * @example
 * ```ts
 * import { counterRule } from 'triscope/formats/tacc';
 *
 * const key = { name: 'port_rcv_data', kind: 'event', bits: 32, unit: '4B' } as const;
 * counterRule('ib', key).top; // 4294967295n: there it sticks until it is cleared
 * ```
 */
export function counterRule(type: string, key: CounterKey, scaledEnergy = false): CounterRule {
  const isEnergy = ENERGY.test(type);
  const fromBoot = FROM_BOOT.has(type);
  const own = 1n << BigInt(bitsOf(type, key));
  const ranges = isEnergy && scaledEnergy ? [...SCALED_ENERGY, own] : [own];
  return {
    ranges,
    narrowest: Number(ranges[0]),
    most: mostOf(type, key),
    lasting: lastingOf(type, key, scaledEnergy),
    dip: fromBoot ? ANY_DIP : SMALL_DIP,
    top: type === 'ib' ? (1n << BigInt(PORT_BITS[key.name] ?? 32)) - 1n : null,
    steady: isEnergy,
  };
}

/**
 * Whether the collector of a file with these properties multiplied energies to mJ: tacc_stats 2.x did; hpcperfstats and
 * triscope keep what they read.
 * @example
 * ```ts
 * import { scalesEnergy } from 'triscope/formats/tacc';
 *
 * scalesEnergy({ tacc_stats: '2.3.5' }); // true: its energies are in mJ
 * ```
 */
export function scalesEnergy(properties: Readonly<Record<string, string>>): boolean {
  return /^2\./.test(properties.tacc_stats ?? '') && properties.collector !== 'triscope';
}

/** The rule of a metric that is a running total, of any source. `schema`: the name of its table. */
export const ruleOf = (schema: string, { key, kind, unit, bits = WIDEST }: Metric): CounterRule =>
  counterRule(schema.replace(/^node_/, ''), { name: key, kind, unit, bits });
