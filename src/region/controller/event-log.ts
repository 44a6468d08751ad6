/** Passes the events of the processes' rings to the profile trace, in GEOPM's form, and to the record filters. */
import type { ProfileRow, TraceHeader } from '../../formats/geopm/write.ts';
import { regionHash } from '../../model/region-hash.ts';
import { EVENT_EPOCH, EVENT_REGION_ENTRY, EVENT_REGION_EXIT } from '../../model/region-layout.ts';
import type { PageEvent } from '../ring-reader.ts';
import type { ApplicationProcess } from './process-table.ts';
import type { ControllerSettings } from './settings.ts';
import { ProfileTraceFile } from './trace-files.ts';

type EventLogSettings = Pick<ControllerSettings, 'profileTrace' | 'compat' | 'profile'>;

export class EventLog {
  /** ns of CLOCK_MONOTONIC. */
  private zero = 0;
  private readonly file: ProfileTraceFile | null;
  /** GEOPM hashes the name together with its quotes. */
  private readonly profile: number;

  /** @param path of the profile trace, if any */
  constructor(
    { profileTrace: path, compat, profile }: EventLogSettings,
    fail: (error: Error) => void,
  ) {
    this.file = path === undefined ? null : new ProfileTraceFile(path, compat, fail);
    this.profile = regionHash(`"${profile}"`);
  }

  /** Sets time zero to now. @throws OutputError */
  begin(zero: number, header: TraceHeader): void {
    this.zero = zero;
    this.file?.begin(header);
  }

  drainAll(processes: readonly ApplicationProcess[]): void {
    for (const process of processes) this.drain(process);
  }

  /** Handles all events of a process since the last call. Its page must still be mapped. */
  drain(process: ApplicationProcess): void {
    const file = this.file;
    if (file === null && process.finder === null) return;
    const { page } = process;
    const tell = (ns: number, event: ProfileRow['event'], signal: number) =>
      file?.event({
        ...{ time: (ns - this.zero) / 1e9, process: page.pid, event, signal },
        // A process's first thread has the process's id.
        thread: page.pid,
      });
    if (!process.announced) {
      process.announced = true;
      tell(process.started, 'EVENT_START_PROFILE', this.profile);
      for (const cpu of page.cpus) tell(process.started, 'EVENT_AFFINITY', cpu);
    }
    page.events((event) => this.event(process, event));
    if (process.alive) return;
    tell(process.ended, 'EVENT_OVERHEAD', page.overhead);
    tell(process.ended, 'EVENT_STOP_PROFILE', this.profile);
  }

  /** GEOPM records outermost regions only. */
  private event(process: ApplicationProcess, told: PageEvent): void {
    const { code, value, depth, time, tid } = told;
    const { finder, page, zero } = process;
    // Marks after the process's end do not belong to the application.
    if (page.stopped !== null && time > page.stopped) return;
    const tell = (event: ProfileRow['event'], signal: number) =>
      this.file?.event({
        ...{ time: (zero - this.zero) / 1e9 + time, process: page.pid, event, signal },
        thread: tid,
      });
    if (code === EVENT_EPOCH) {
      if (finder === null) tell('EPOCH_COUNT', value);
    } else if (depth === 1 && code === EVENT_REGION_EXIT) tell('REGION_EXIT', value);
    else if (depth === 1 && code === EVENT_REGION_ENTRY) {
      tell('REGION_ENTRY', value);
      const epoch = finder?.entry(value) ?? 0;
      if (epoch === 0) return;
      process.epochs = epoch;
      if (Number.isNaN(process.firstEpoch)) process.firstEpoch = zero + time * 1e9;
      tell('EPOCH_COUNT', epoch);
    }
  }

  close(): void {
    this.file?.close();
  }
}
