/**
 * Recognises the processor of a recorded tree that does not name it: by event selectors as tacc_stats sets them and, for
 * Intel processors, by the PCI ids of the uncore.
 */
import { OPTERON_ROWS, OPTERON_SELECT } from './amd-events.ts';
import { CORE_EVENTS, type Microarchitecture } from './intel-models.ts';
import { INTEL, type PciFunction } from './pci.ts';
import type { Processor } from './processor.ts';
import { join64, type RegisterSpace } from './registers.ts';

const INTEL_SELECT = 0x186;

/** Device id of the first memory channel → model, and the name of its events. */
const MODELS: ReadonlyMap<number, readonly [number, Microarchitecture]> = new Map([
  [0x3cb0, [0x2d, 'snb']],
  [0x0eb0, [0x3e, 'ivb']],
  [0x2fb0, [0x3f, 'hsw']],
  [0x6fb0, [0x4f, 'bdw']],
  [0x2042, [0x55, 'skx']],
]);

/** What is needed of a machine: its registers and its PCI functions. */
export interface Marked {
  msr(cpu: number): RegisterSpace;
  readonly functions: readonly Pick<PciFunction, 'vendor' | 'device'>[];
}

/** Whether CPU 0's registers from `first` on select these events. */
function selects(hardware: Marked, first: number, events: readonly bigint[]): boolean {
  const words = new Uint32Array(2);
  try {
    const msr = hardware.msr(0);
    return events.every((event, k) => {
      msr.read(first + k, 8, words);
      return join64(words) === event;
    });
  } catch {
    return false;
  }
}

export function recognise(hardware: Marked): Processor | null {
  const rest = { counters: null, threaded: null };
  if (selects(hardware, OPTERON_SELECT, OPTERON_ROWS[0])) {
    return { vendor: 'amd', family: 0x10, model: 2, ...rest };
  }
  for (const { vendor, device } of hardware.functions) {
    const known = vendor === INTEL ? MODELS.get(device) : undefined;
    // At least four counters: with hyper-threading there are no more.
    if (known && selects(hardware, INTEL_SELECT, CORE_EVENTS[known[1]].slice(0, 4))) {
      return { vendor: 'intel', family: 6, model: known[0], ...rest };
    }
  }
  return null;
}
