/** One thing that a server shows: a recording, or a run that becomes one. */
import { existsSync } from 'node:fs';
import { openRecording as openTables, type OpenRecording as Tables } from '../query/index.ts';
import { ApiError } from './api/route.ts';
import type { LiveBus } from './bus.ts';
import { openRecording } from './recording-source.ts';
import { SeriesStore } from './series/store.ts';
import type { ServedSeries, Shown } from './shown.ts';

const seriesOf = (store: SeriesStore): ServedSeries => ({
  tables: () => store.tables(),
  series: async (...asked) => store.series(...asked),
});

export interface Exhibit {
  readonly id: string;
  /** Its live samples; null where there are none. */
  readonly bus: LiveBus | null;
  /** @throws RecordingError, ApiError */
  now(): Promise<Shown>;
  close(): Promise<void>;
}

/** Opens tables once, when they are first asked for. */
class LateTables {
  readonly #path: string | null;
  #open: Promise<Tables> | null = null;

  constructor(path: string | null) {
    this.#path = path;
  }

  get(): Promise<Tables> {
    const path = this.#path;
    if (path === null) {
      throw new ApiError(409, 'this run is not recorded: there are no tables to query');
    }
    if (this.#open === null) {
      const opening = openTables(path);
      // A failure is told to who asked; the next one tries again.
      opening.catch(() => {
        this.#open = null;
      });
      this.#open = opening;
    }
    return this.#open;
  }

  async close(): Promise<void> {
    const open = await this.#open?.catch(() => null);
    await open?.close();
  }
}

/** A run by its frames while it goes on, since its files are not whole yet; then, and without a run, its recording. */
export function exhibit(id: string, bus: LiveBus | null, path: string | null): Exhibit {
  let recorded: Promise<Shown> | null = null;
  const tables = new LateTables(path);
  const live = seriesOf(new SeriesStore());
  return {
    id,
    bus,
    now: async () => {
      if (bus !== null && (path === null || bus.facts.state === 'running')) {
        const sql = () => tables.get();
        return { id, path, facts: bus.facts, live: true, revision: 0, series: live, sql };
      }
      if (path === null) throw new ApiError(404, 'neither a run nor a recording to show');
      if (recorded !== null && !existsSync(path)) {
        throw new ApiError(410, `${path} was removed while it was shown`);
      }
      recorded ??= openRecording(path).then(({ facts, store }) => ({
        ...{ id, path, facts, live: false, revision: 1 },
        series: seriesOf(store),
        sql: () => tables.get(),
      }));
      return recorded;
    },
    close: () => tables.close(),
  };
}
