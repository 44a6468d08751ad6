/** A path's files as tables on one timeline. */
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type TakeRows, type TimeSpan, timeColumnOf } from '../formats/part.ts';
import { type OpenedFile, openData } from '../formats/registry.ts';
import { NOTES_FILE } from '../model/note.ts';
import { RECORDING_FILE } from '../model/recording.ts';
import { lackingEnd } from '../model/recording-end.ts';
import { breath } from '../os/breath.ts';
import { readReason } from '../os/plain-file.ts';
import {
  type ClockPlace,
  type ClockPlacement,
  contradiction,
  outside,
  qualityOf,
} from './clocks.ts';
import { InputError } from './errors.ts';
import type { PlacedPart, Suspect } from './part.ts';
import type { Sources } from './sources.ts';
import { type Table, tableOf, WALL_TIME } from './table.ts';
import { tableNames } from './table-names.ts';

export interface LoadedTables {
  readonly tables: readonly Table[];
  readonly suspects: readonly Suspect[];
  /** The timeline's 0, ns since 1970; null where it is not known. */
  readonly start: bigint | null;
  readonly clocks: readonly ClockPlace[];
  /**
   * Remembers the files. The function that it returns reads what was appended to them, and passes on each row once;
   * it returns false if the files changed in another way and have to be read again.
   */
  follow(): (take: TakeRows) => boolean;
  close(): void;
}

interface Found extends Omit<PlacedPart, 'shift'> {
  readonly format: string;
  readonly zero: bigint | null;
  readonly placement: ClockPlacement;
  readonly ahead: bigint;
  readonly clock: string | null;
  readonly bound: number | null;
}

/** Bytes of the columns that stay in memory by default, of files that are slow to read again. */
const KEPT_BYTES = 2 ** 28;

/**
 * @param keptBytes bytes of columns that may stay in memory, of files that are slow to read again
 * @throws InputError that names the file
 */
export async function loadTables(sources: Sources, keptBytes = KEPT_BYTES): Promise<LoadedTables> {
  const found: Found[] = [];
  const suspects: Suspect[] = [];
  const open: OpenedFile[] = [];
  let left = keptBytes;
  const shown = (path: string) => relative(sources.path, path) || sources.path;
  for (const path of sources.missing) {
    suspects.push({ file: shown(path), what: 'recording.json lists it, and it is not there' });
  }
  const { fault } = sources.notes;
  if (fault !== null) suspects.push({ file: NOTES_FILE, what: `cannot be read: ${fault}` });
  suspects.push(...changedSizes(sources), ...strangeSources(sources), ...unfinished(sources));
  for (const { path, format, zero, ahead, clock, bound } of sources.files) {
    let loaded: OpenedFile | null;
    // Half of what is left: others find room beside a large file.
    const room = left / 2;
    let used = 0;
    const keep = (bytes: number): boolean => {
      used += bytes;
      return used <= room;
    };
    await breath();
    try {
      // Rows take about as much as their file, and twice that while they come.
      loaded = openData(path, format, 2 * statSync(path).size <= room ? { keep } : {});
    } catch (error) {
      const reason = readReason(error);
      const what = `cannot be read: ${reason.startsWith(`${path}: `) ? reason.slice(path.length + 2) : reason}`;
      // A recording or folder can be opened without one of its files.
      if (sources.recording === null && sources.files.length === 1)
        throw new InputError(`${path}: ${what}`);
      suspects.push({ file: shown(path), what });
      continue;
    }
    if (loaded === null) continue;
    // All of a file is in memory, or nothing of it.
    if (used > room) for (const part of loaded.parts) part.release?.();
    else left -= used;
    open.push(loaded);
    for (const { where, what } of loaded.suspect) {
      suspects.push({ file: shown(path), what: where === 'file' ? what : `${where}: ${what}` });
    }
    const own = loaded.zero;
    if (own !== null && zero !== null) {
      const strange = contradiction(shown(path), own, zero);
      if (strange !== null) suspects.push(strange);
    }
    const of = found.length;
    for (const part of loaded.parts) {
      const time = timeColumnOf(part.schema);
      const one = {
        part,
        time,
        zero: own ?? zero,
        ahead,
        clock,
        bound,
        file: shown(path),
        format: loaded.format,
      };
      found.push({ ...one, placement: placementOf(one, own !== null) });
    }
    const strange = strangeTimes(found.slice(of), sources);
    if (strange !== null) suspects.push(strange);
  }
  if (open.length === 0 && sources.recording === null) {
    throw new InputError(`${sources.path}: nothing in it has a format that can be queried`);
  }
  const start = sources.start ?? earliest(found);
  const byName = new Map<string, Found[]>();
  for (const one of found) {
    const name = one.part.schema.name.toLowerCase();
    byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  const names = tableNames([...byName.values()].map(([{ part }]) => part.schema.name));
  const nameOf = ({ part }: Found) => names.get(part.schema.name.toLowerCase()) ?? '';
  for (const [one] of byName.values()) {
    const { name } = one.part.schema;
    if (nameOf(one) === name) continue;
    const what = `no table can be called ${JSON.stringify(name)} here: it is ${nameOf(one)}`;
    suspects.push({ file: one.file, what });
  }
  const clocks = found.map(
    (one): ClockPlace => ({
      file: one.file,
      table: nameOf(one),
      placement: one.placement,
      zero: isWallTime(one) ? null : one.zero,
      shift: shiftOf(one, start),
      bound: one.placement === 'untimed' ? null : one.bound,
      quality: one.clock ?? qualityOf(one.placement),
    }),
  );
  const tables: Table[] = [];
  for (const parts of byName.values()) {
    const placed = preferred(parts).map((one) => ({ ...one, shift: shiftOf(one, start) }));
    if (placed[0].part.schema.metrics.length === 0) continue;
    tables.push(tableOf(nameOf(placed[0]), placed, suspects));
  }
  const close = () => {
    for (const one of open) one.close();
  };
  return { tables, suspects, start, clocks, follow: () => following(open), close };
}

function following(files: readonly OpenedFile[]): (take: TakeRows) => boolean {
  const doubts = () => JSON.stringify(files.map(({ suspect }) => suspect));
  const [whole, told] = [files.every(({ grow }) => grow !== undefined), doubts()];
  let same = files.map((file) => file.remember());
  return (take) => {
    if (!whole || !same.every((isSame) => isSame())) return false;
    for (const file of files) file.grow?.(take);
    same = files.map((file) => file.remember());
    return doubts() === told;
  };
}

/** Files that have another length than when they were finished. Their content is checked by `info --verify`, which reads all of it. */
function changedSizes({ path, recording }: Sources): Suspect[] {
  const files = recording?.sources.flatMap((source) => source.files) ?? [];
  return files.flatMap((file) => {
    const size = statSync(join(path, file.path), { throwIfNoEntry: false })?.size;
    if (file.bytes === undefined || size === undefined || size === file.bytes) return [];
    const what = `was changed: it has ${size} bytes, and had ${file.bytes} when its run ended`;
    return [{ file: file.path, what }];
  });
}

/** Frames hold the same samples as the native files, in double precision. */
function preferred(parts: readonly Found[]): readonly Found[] {
  const frames = parts.filter(({ format }) => format === 'frames');
  const hasRows = frames.some(({ part }) => part.rows !== 0);
  return hasRows && parts[0].part.schema.name.startsWith('ross_') ? frames : parts;
}

const isWallTime = ({ part, time }: Pick<PlacedPart, 'part' | 'time'>): boolean =>
  time !== null && part.schema.metrics[time].key === WALL_TIME;

function placementOf(found: Omit<Found, 'placement'>, hasOwn: boolean): ClockPlacement {
  if (found.time === null) return 'untimed';
  if (isWallTime(found)) return 'wall clock';
  if (hasOwn) return 'file';
  return found.zero === null ? 'assumed' : 'anchor';
}

const dateOf = (text: string | undefined): number | null =>
  text === undefined ? null : Date.parse(text) / 1000;

/** Suspect: files whose times of day are outside of the time in which the recording was made. */
function strangeTimes(found: readonly Found[], { recording }: Sources): Suspect | null {
  const from = dateOf(recording?.started);
  if (from === null) return null;
  const timed = found.filter((one) => isWallTime(one) && one.part.span != null);
  if (timed.length === 0) return null;
  const spans = timed.map(({ part }) => part.span as TimeSpan);
  const span = {
    from: Math.min(...spans.map((one) => one.from)),
    to: Math.max(...spans.map((one) => one.to)),
  };
  return outside(timed[0].file, 'its records', span, { from, to: dateOf(recording?.ended) });
}

function unfinished({ recording }: Sources): Suspect[] {
  const said = recording === null ? [] : lackingEnd(recording);
  return said.map((what) => ({ file: RECORDING_FILE, what }));
}

/** Sources of a recording whose zeros are not within the time in which it was made. */
function strangeSources({ recording }: Sources): Suspect[] {
  const from = dateOf(recording?.started);
  if (recording === null || from === null) return [];
  return recording.sources.flatMap(({ name, zero }) => {
    const at = Number(BigInt(zero)) / 1e9;
    const made = { from, to: dateOf(recording.ended) };
    const what = `source ${name}, by its zero,`;
    return outside(RECORDING_FILE, what, { from: at, to: at }, made) ?? [];
  });
}

function shiftOf(found: Found, start: bigint | null): number {
  if (isWallTime(found)) return start === null ? 0 : -Number(start + found.ahead) / 1e9;
  if (found.zero === null || start === null) return 0;
  return Number(found.zero - start) / 1e9;
}

/** For loose files: the timeline begins with the first file, or record, that tells the time of day. */
function earliest(found: readonly Found[]): bigint | null {
  const zeros = found.flatMap(({ zero }) => zero ?? []);
  const wall = earliestWallTime(found);
  return [...zeros, ...(wall === null ? [] : [wall])].reduce<bigint | null>(
    (least, one) => (least === null || one < least ? one : least),
    null,
  );
}

function earliestWallTime(found: readonly Found[]): bigint | null {
  let least = Number.POSITIVE_INFINITY;
  for (const { part } of found.filter(isWallTime))
    least = Math.min(least, part.span?.from ?? least);
  return Number.isFinite(least) ? BigInt(Math.round(least * 1e6)) * 1000n : null;
}
