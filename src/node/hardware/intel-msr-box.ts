/**
 * Types of the uncore units whose boxes are MSRs: caching agents and power control. A box has a control register that
 * freezes its counters, filters, four selectors and four counters. Source: Intel Xeon E5 uncore performance monitoring
 * guides (327043, 329468, 331051) and that of Xeon Scalable (336274).
 */
import type { Metric } from '../../model/metric.ts';
import { control, counter, type NodeType } from '../types/type.ts';
import { type Microarchitecture, requireIntel } from './intel-models.ts';
import { type RegisterWrite, registerType, row } from './register-type.ts';

const COUNTERS = 4;
/** Freeze enable, and freeze: counters keep their values. */
export const FREEZE = 0x10100n;
export const THAW = 0x10000n;

interface MsrBoxOptions {
  readonly name: string;
  readonly help: string;
  readonly for: readonly Microarchitecture[];
  readonly device: string;
  readonly bits: number;
  /** Registers of box 0. */
  readonly control: number;
  readonly select: number;
  readonly counter: number;
  /** Register of each filter, and its value. */
  readonly filters: readonly (readonly [number, bigint])[];
  /** Distance between the registers of two boxes, if there is one box per core; omitted for one box per package. */
  readonly perCore?: number;
  /** Fixed counters: key, help, register. */
  readonly fixed?: readonly (readonly [string, string, number])[];
  readonly fixedBits?: number;
  readonly events: readonly bigint[];
  /** Written once per package, after the boxes. */
  readonly after?: readonly [number, bigint];
}

export function boxMetrics(bits: number, unit = ''): Metric[] {
  const each = (make: (k: number) => Metric) => Array.from({ length: COUNTERS }, (_, k) => make(k));
  return [
    ...each((k) => control(`CTL${k}`, `what counter ${k} counts`)),
    ...each((k) => counter(`CTR${k}`, `events that CTL${k} selects`, unit, bits)),
  ];
}

export function intelMsrBox(options: MsrBoxOptions): NodeType {
  const { name, help, device, bits, perCore, fixed = [], fixedBits = bits, events } = options;
  return registerType({
    name,
    help,
    device,
    source: '/dev/cpu/N/msr',
    metrics: [
      ...boxMetrics(bits),
      ...fixed.map(([key, what]) => counter(key, what, '', fixedBits)),
    ],
    boxes: (hardware) => {
      requireIntel(hardware, options.for);
      return hardware.packages.flatMap(({ id, cpus, cores }) =>
        Array.from({ length: perCore === undefined ? 1 : cores }, (_, box) => {
          const shift = box * (perCore ?? 0);
          return {
            device: perCore === undefined ? String(id) : `${id}/${box}`,
            space: `msr ${cpus[0]}`,
            registers: [
              ...row(options.select + shift, COUNTERS),
              ...row(options.counter + shift, COUNTERS),
              ...fixed.flatMap(([, , at]) => row(at, 1)),
            ],
          };
        }),
      );
    },
    writes: (hardware) => {
      requireIntel(hardware, options.for);
      return hardware.packages.flatMap(({ cpus, cores }): RegisterWrite[] => {
        const write = (at: number, value: bigint): RegisterWrite => ({
          space: `msr ${cpus[0]}`,
          at,
          width: 8,
          value,
        });
        const boxes = Array.from({ length: perCore === undefined ? 1 : cores }, (_, box) => {
          const shift = box * (perCore ?? 0);
          return [
            write(options.control + shift, FREEZE),
            ...options.filters.map(([at, value]) => write(at + shift, value)),
            ...events.map((event, k) => write(options.select + shift + k, event)),
            write(options.control + shift, THAW),
          ];
        }).flat();
        return options.after ? [...boxes, write(...options.after)] : boxes;
      });
    },
  });
}
