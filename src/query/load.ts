/** A path's files as tables on one timeline. */
import { relative } from 'node:path';
import { InputError, reasonOf } from './errors.ts';
import { type Loaded, loadFile } from './loaders.ts';
import type { PlacedPart, Suspect } from './part.ts';
import type { Sources } from './sources.ts';
import { type Table, tableOf, timeColumnOf, WALL_TIME } from './table.ts';

export interface LoadedTables {
  readonly tables: readonly Table[];
  readonly suspects: readonly Suspect[];
  /** The timeline's 0, ns since 1970; null where nothing says it. */
  readonly start: bigint | null;
  close(): void;
}

interface Found extends Omit<PlacedPart, 'shift'> {
  readonly format: string;
  readonly zero: bigint | null;
  readonly ahead: bigint;
}

/** @throws InputError that names the file */
export async function loadTables(sources: Sources): Promise<LoadedTables> {
  const found: Found[] = [];
  const suspects: Suspect[] = [];
  const open: { close(): void }[] = [];
  const shown = (path: string) => relative(sources.path, path) || sources.path;
  for (const path of sources.missing) {
    suspects.push({ file: shown(path), what: 'recording.json lists it, and it is not there' });
  }
  for (const { path, zero, ahead } of sources.files) {
    let loaded: Loaded | null;
    try {
      loaded = await loadFile(path);
    } catch (error) {
      const what = `cannot be read: ${reasonOf(error)}`;
      // A recording without one of its files is still one.
      if (sources.recording === null) throw new InputError(`${path}: ${what}`);
      suspects.push({ file: shown(path), what });
      continue;
    }
    if (loaded === null) continue;
    open.push(loaded);
    suspects.push(...loaded.suspects.map(({ what }) => ({ file: shown(path), what })));
    for (const part of loaded.parts) {
      const time = timeColumnOf(part);
      found.push({
        part,
        time,
        zero: loaded.zero ?? zero,
        ahead,
        file: shown(path),
        format: loaded.format,
      });
    }
  }
  if (open.length === 0 && sources.recording === null) {
    throw new InputError(`${sources.path}: no file here is of a format that can be queried`);
  }
  const start = sources.start ?? earliest(found);
  const byName = new Map<string, Found[]>();
  for (const one of found) {
    const name = one.part.schema.name.toLowerCase();
    byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  const tables: Table[] = [];
  for (const parts of byName.values()) {
    const placed = preferred(parts).map((one) => ({ ...one, shift: shiftOf(one, start) }));
    if (placed[0].part.schema.metrics.length === 0) continue;
    tables.push(tableOf(placed[0].part.schema.name, placed, suspects));
  }
  const close = () => {
    for (const one of open) one.close();
  };
  return { tables, suspects, start, close };
}

/** Frames hold the same samples as the native files, in double precision. */
function preferred(parts: readonly Found[]): readonly Found[] {
  const frames = parts.filter(({ format }) => format === 'frames');
  const hasRows = frames.some(({ part }) => part.rows !== 0);
  return hasRows && parts[0].part.schema.name.startsWith('ross_') ? frames : parts;
}

const isWallTime = ({ part, time }: Pick<PlacedPart, 'part' | 'time'>): boolean =>
  time !== null && part.schema.metrics[time].key === WALL_TIME;

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
  for (const one of found.filter(isWallTime)) {
    for (const { columns } of one.part.read([one.time as number])) {
      for (const time of columns[0] as Float64Array) if (time < least) least = time;
    }
  }
  return Number.isFinite(least) ? BigInt(Math.round(least * 1e6)) * 1000n : null;
}
