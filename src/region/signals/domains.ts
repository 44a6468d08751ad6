/** The parts of a machine at which signals are measured. */
import type { Domain } from '../../model/metric.ts';

/** Parts of a machine, from coarse to fine. */
export const SIGNAL_DOMAINS = [
  'board',
  'package',
  'core',
  'cpu',
  'memory',
  'nic',
  'gpu',
  'gpu_chip',
] as const satisfies readonly Domain[];

/** What a signal belongs to: the board, a package, a core, a CPU, a memory, a network card or a GPU. */
export type SignalDomain = (typeof SIGNAL_DOMAINS)[number];
