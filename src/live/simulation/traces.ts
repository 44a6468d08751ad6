/** What a recording's simulation holds beside samples, read when it is first asked for: rollbacks, events, places of LPs. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { readReadme } from '../../formats/ross/read/readme.ts';
import { MOST_README_BYTES } from '../../formats/ross/read/told.ts';
import type { Schema } from '../../model/metric.ts';
import { readPlain } from '../../os/plain-file.ts';
import { loadTables } from '../../query/load.ts';
import { type Sources, sourcesOf } from '../../query/sources.ts';
import type { Table, TablePiece } from '../../query/table.ts';
import { CascadeIndex } from '../../view/simulation/cascades.ts';
import { EVENT_COLUMNS, Events } from '../../view/simulation/events.ts';
import { PlacesByLp, readMapping } from '../../view/simulation/places.ts';
import { ROLLBACK_COLUMNS, Rollbacks } from '../../view/simulation/rollbacks.ts';
import { inTurns, Turns } from '../net/shared-work.ts';

const MAPPING = 'lp-mapping.txt';

/** Times are seconds since the recording's start, as `t` in SQL. */
export interface Traces {
  readonly rollbacks: Rollbacks;
  readonly cascades: CascadeIndex;
  readonly events: Events;
  /** Whether only events that caused rollbacks were traced (`--event-trace=2`). */
  readonly onlyStragglers: boolean;
  readonly places: PlacesByLp;
}

const numberOf = (schema: Schema, key: string) =>
  schema.metrics.findIndex((metric) => metric.key === key);

async function readRollbacks(
  into: Rollbacks,
  { part, shift }: TablePiece,
  turns: Turns,
): Promise<void> {
  const numbers = ROLLBACK_COLUMNS.map((key) => numberOf(part.schema, key));
  const cause = numberOf(part.schema, 'cause');
  const there = [...numbers, cause].filter((k) => k >= 0);
  const labels = part.labels[cause] ?? [];
  for (const { rows, columns } of part.read(there)) {
    const columnOf = (k: number) => (k < 0 ? null : columns[there.indexOf(k)]);
    const causes = columnOf(cause);
    const textOf = (row: number) => (causes === null ? '' : (labels[Number(causes[row])] ?? ''));
    into.add(numbers.map(columnOf), textOf, rows, shift);
    await turns.took(rows);
  }
}

async function readEvents(into: Events, { part, shift }: TablePiece, turns: Turns): Promise<void> {
  const numbers = EVENT_COLUMNS.map((key) => numberOf(part.schema, key));
  if (numbers.includes(-1)) return;
  for (const { rows, columns } of part.read(numbers)) {
    into.add(columns, rows, shift);
    await turns.took(rows);
  }
}

const README = '-README.txt';
/** ROSS's number of `--event-trace` for events that cause rollbacks. */
const STRAGGLERS = 2;

/** Whether a README says so; one that cannot be read says nothing. */
const saysStragglers = ({ files }: Sources): boolean =>
  files.some(({ path }) => {
    if (!path.endsWith(README)) return false;
    try {
      return readReadme(readPlain(path, MOST_README_BYTES))?.eventTrace === STRAGGLERS;
    } catch {
      return false;
    }
  });

/** From `lp-mapping.txt`; else from samples of LPs. */
async function readPlaces(
  sources: Sources,
  tables: readonly Table[],
  turns: Turns,
): Promise<PlacesByLp> {
  const places = new PlacesByLp();
  for (const { path } of sources.files) {
    if (basename(path) === MAPPING) readMapping(readFileSync(path, 'utf8'), places);
  }
  if (places.size > 0) return places;
  for (const { name, pieces } of tables) {
    if (name !== 'ross_lp' && name !== 'ross_model') continue;
    for (const { part } of pieces) {
      const ids = ['lp_id', 'pe_id', 'kp_id'].map((key) => numberOf(part.schema, key));
      if (ids.includes(-1)) continue;
      for (const { rows, columns } of part.read(ids)) {
        const [lps, pes, kps] = columns as readonly Uint32Array[];
        for (let row = 0; row < rows; row++) places.put(lps[row], pes[row], kps[row]);
        await turns.took(rows);
      }
    }
  }
  return places;
}

/** Reads a recording's folder, or loose files. @throws InputError that names the file; the signal's reason */
export async function loadTraces(path: string, signal: AbortSignal): Promise<Traces> {
  const sources = sourcesOf(path);
  const { tables, close } = await loadTables(sources);
  try {
    const piecesOf = (name: string) => tables.find((one) => one.name === name)?.pieces ?? [];
    const turns = new Turns(signal);
    const rollbacks = new Rollbacks();
    for (const piece of piecesOf('ross_rollback')) await readRollbacks(rollbacks, piece, turns);
    const events = new Events();
    for (const piece of piecesOf('ross_event')) await readEvents(events, piece, turns);
    return {
      rollbacks,
      cascades: await inTurns(CascadeIndex.of(rollbacks), signal),
      events,
      onlyStragglers: saysStragglers(sources),
      places: await readPlaces(sources, tables, turns),
    };
  } finally {
    close();
  }
}
