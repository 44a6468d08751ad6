/**
 * Types of Intel's core counters: selectors, programmable counters, then the three fixed counters. One type per
 * processor and number of counters, so that each machine has exactly one. Source: Intel SDM, vol. 3B, ch. 20.
 */
import type { Metric } from '../../model/metric.ts';
import { UnavailableError } from '../tree.ts';
import { control, counter, type NodeType } from '../types/type.ts';
import type { Hardware } from './hardware.ts';
import { CORE_EVENTS, type Microarchitecture, microarchitectureOf } from './intel-models.ts';
import { modelName, type Processor } from './processor.ts';
import { type RegisterWrite, registerType, row } from './register-type.ts';

const SELECT = 0x186;
const COUNTER = 0xc1;
const FIXED = 0x309;
const FIXED_CONTROL = 0x38d;
const GLOBAL_CONTROL = 0x38f;
/** Each of the three fixed counters counts in user mode and in the kernel. */
const FIXED_MODES = 0x333n;
const FIXED_ENABLED = 0x7n << 32n;

/** Counters of a logical CPU if CPUID was not asked: half of a core's for each of its two threads. */
function usualCounters(is: Microarchitecture | null, threaded: boolean | null): number {
  if (is === 'nhm' || is === 'wtm') return 4;
  if (is === 'knl') return 2;
  if (is === null) return 0;
  return threaded === true ? 4 : 8;
}

/** The type to which this processor's counters belong. */
function typeFor(processor: Processor): { name: string; counters: number } | null {
  if (processor.vendor !== 'intel' || processor.family !== 6) return null;
  const is = microarchitectureOf(processor);
  const counters = processor.counters ?? usualCounters(is, processor.threaded);
  if (is === 'nhm' || is === 'wtm') return { name: `intel_${is}`, counters: Math.min(4, counters) };
  if (is === 'knl') return { name: 'intel_knl', counters: Math.min(2, counters) };
  if (counters >= 8) {
    const own = is !== null && is !== 'skx';
    return { name: own ? `intel_${is}` : 'intel_8pmc3', counters: 8 };
  }
  if (counters < 4) return { name: '', counters: 0 };
  if (is === 'hsw') return { name: 'intel_hsw_ht', counters: 4 };
  return { name: is === 'skx' ? 'intel_skx' : 'intel_4pmc3', counters: 4 };
}

function requireType(hardware: Hardware, name: string, what: string): void {
  const { processor } = hardware;
  const type = typeFor(processor);
  if (type?.name === name && type.counters > 0) return;
  const here =
    type === null
      ? ''
      : type.counters === 0
        ? ', which offers no core counters (hidden by a hypervisor)'
        : `, whose type is ${type.name}`;
  throw new UnavailableError(`for ${what}; this is ${modelName(processor)}${here}`);
}

const HELP = ['instructions retired', 'clocks of the core', 'clocks at the nominal frequency'];

export interface CoreTypeOptions {
  readonly name: string;
  /** Names of the processors, for the user. */
  readonly what: string;
  readonly counters: number;
  /** Width of a counter in bits. */
  readonly bits?: number;
  /** Whether the fixed counters come before the programmable ones. */
  readonly fixedFirst?: boolean;
}

/** The type of Intel's core counters that `options` describe. */
export function intelCore(options: CoreTypeOptions): NodeType {
  const { name, what, counters, bits = 48, fixedFirst = false } = options;
  const each = (make: (k: number) => Metric) => Array.from({ length: counters }, (_, k) => make(k));
  const general = [
    ...each((k) => control(`CTL${k}`, `what counter ${k} counts`)),
    ...each((k) => counter(`CTR${k}`, `events that CTL${k} selects`, '', bits)),
  ];
  const fixed = HELP.map((help, k) => counter(`FIXED_CTR${k}`, help, '', bits));
  const generalRegisters = [...row(SELECT, counters), ...row(COUNTER, counters)];
  const registers = fixedFirst
    ? [...row(FIXED, 3), ...generalRegisters]
    : [...generalRegisters, ...row(FIXED, 3)];
  return registerType({
    name,
    help: `core counters of ${what}`,
    device: 'CPU',
    source: '/dev/cpu/N/msr',
    metrics: fixedFirst ? [...fixed, ...general] : [...general, ...fixed],
    boxes: (hardware) => {
      requireType(hardware, name, what);
      return hardware.cpus.map((cpu) => ({ device: String(cpu), space: `msr ${cpu}`, registers }));
    },
    writes: (hardware) => {
      requireType(hardware, name, what);
      const is = microarchitectureOf(hardware.processor);
      if (is === null) {
        throw new UnavailableError(
          `no events are known for ${modelName(hardware.processor)}: its counters are not programmed`,
        );
      }
      const events = CORE_EVENTS[is].slice(0, counters);
      const enabled = FIXED_ENABLED | ((1n << BigInt(counters)) - 1n);
      return hardware.cpus.flatMap((cpu): RegisterWrite[] => {
        const write = (at: number, value: bigint): RegisterWrite => ({
          space: `msr ${cpu}`,
          at,
          width: 8,
          value,
        });
        return [
          write(GLOBAL_CONTROL, 0n),
          ...events.map((event, k) => write(SELECT + k, event)),
          write(FIXED_CONTROL, FIXED_MODES),
          write(GLOBAL_CONTROL, enabled),
        ];
      });
    },
  });
}
