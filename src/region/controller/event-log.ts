/** Events of the processes' rings: to the profile trace as GEOPM has it, and to the record filters. */
import type { TraceHeader } from '../../formats/geopm/write.ts';
import { regionHash } from '../../model/region-hash.ts';
import { EVENT_EPOCH, EVENT_REGION_ENTRY, EVENT_REGION_EXIT } from '../../model/region-layout.ts';
import type { PageEvent } from '../ring-reader.ts';
import type { ApplicationProcess } from './process-table.ts';
import { ProfileTraceFile } from './trace-files.ts';

export class EventLog {
  /** ns of CLOCK_MONOTONIC. */
  zero = 0;
  private readonly file: ProfileTraceFile | null;
  /** As GEOPM hashes it: with its quotes. */
  private readonly profile: number;

  /** @param path of the profile trace, if any */
  constructor(path: string | undefined, header: TraceHeader, fail: (error: Error) => void) {
    this.file = path === undefined ? null : new ProfileTraceFile(path, header, fail);
    this.profile = regionHash(`"${header.profile}"`);
  }

  drainAll(processes: readonly ApplicationProcess[]): void {
    for (const process of processes) this.drain(process);
  }

  /** All events of a process since the last call. Its page is still there. */
  drain(process: ApplicationProcess): void {
    const file = this.file;
    if (file === null && process.finder === null) return;
    const { page } = process;
    const at = (ns: number) => (ns - this.zero) / 1e9;
    if (file !== null && !process.announced) {
      process.announced = true;
      file.event(at(process.started), page.pid, 'EVENT_START_PROFILE', this.profile);
      for (const cpu of page.cpus) {
        file.event(at(process.started), page.pid, 'EVENT_AFFINITY', cpu);
      }
    }
    page.events((event) => this.event(process, event));
    if (file === null || process.alive) return;
    file.event(at(process.ended), page.pid, 'EVENT_OVERHEAD', page.overhead);
    file.event(at(process.ended), page.pid, 'EVENT_STOP_PROFILE', this.profile);
  }

  /** GEOPM sees outermost regions only. */
  private event(process: ApplicationProcess, { code, value, depth, time }: PageEvent): void {
    const { finder, page, zero } = process;
    const file = this.file;
    // Marks after the process's end belong to no application.
    if (page.stopped !== null && time > page.stopped) return;
    const at = (zero - this.zero) / 1e9 + time;
    if (code === EVENT_EPOCH) {
      if (finder === null) file?.event(at, page.pid, 'EPOCH_COUNT', value);
    } else if (depth === 1 && code === EVENT_REGION_EXIT) {
      file?.event(at, page.pid, 'REGION_EXIT', value);
    } else if (depth === 1 && code === EVENT_REGION_ENTRY) {
      file?.event(at, page.pid, 'REGION_ENTRY', value);
      const epoch = finder?.entry(value) ?? 0;
      if (epoch === 0) return;
      process.epochs = epoch;
      if (Number.isNaN(process.firstEpoch)) process.firstEpoch = zero + time * 1e9;
      file?.event(at, page.pid, 'EPOCH_COUNT', epoch);
    }
  }

  close(): void {
    this.file?.close();
  }
}
