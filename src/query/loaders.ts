/** Files as parts of tables. */
import { statSync } from 'node:fs';
import type { FileSource } from '../formats/format.ts';
import { openFrames } from '../formats/frames/index.ts';
import { identify } from '../formats/registry.ts';
import { openFile } from '../formats/source.ts';
import {
  detectRaw,
  foreignFolder,
  ODDITIES,
  type OddityKind,
  RawBatches,
  type RawProblem,
  type RawVisitor,
  readRaw,
  scalesEnergy,
  TaccError,
} from '../formats/tacc/index.ts';
import type { Schema } from '../model/metric.ts';
import { FormatPart } from './format-part.ts';
import type { Suspect, TablePart } from './part.ts';
import { type KeptBudget, RawPart } from './raw-part.ts';

export interface Loaded {
  /** Name of the format. */
  readonly format: string;
  readonly parts: readonly TablePart[];
  readonly suspects: readonly Suspect[];
  /** Wall-clock time of the file's time 0, ns since 1970, where it says so itself. */
  readonly zero?: bigint | null;
  close(): void;
}

/** A format that is read in another way than by its `Format`. */
interface Loader {
  /** Whether a file with this beginning is one; `head` has up to `HEAD_BYTES` bytes. */
  detect(head: Uint8Array, path: string): boolean;
  load(path: string, budget: KeptBudget): Promise<Loaded>;
}

const HEAD_BYTES = 4096;
/** What may be a file of a format, but may as well be none, is not read. */
const SURE = 0.5;

const FRAMES: Loader = {
  detect: (head, path) =>
    Buffer.from(head.subarray(0, 4)).toString('latin1') === 'TRIF' || path.endsWith('.frames'),
  async load(path) {
    const { tables, damage, cut, lost, close } = openFrames(path);
    const suspects = damage.map(({ offset, what }) => ({
      file: path,
      what: `byte ${offset}: ${what}`,
    }));
    const tell = (what: string) => suspects.push({ file: path, what });
    if (statSync(path).size === 0) tell('it is empty: nothing was written into it yet, or ever');
    if (cut > 0) tell(`its last ${cut} bytes are not a whole frame: the writer was stopped`);
    if (lost > 0) tell(`${lost} frames of samples are missing`);
    return { format: 'frames', parts: tables, suspects, close };
  },
};

/** Suspects kept of each kind; all are counted. */
const LISTED = 1000;

/** Raw stats files are read once when they are opened; see `raw-part.ts` for what is kept. */
const RAW_STATS: Loader = {
  detect: (head) => detectRaw(head) !== null,
  async load(path, budget) {
    const parts = new Map<Schema, RawPart>();
    /** Schemas of each type so far. */
    const nths = new Map<string, number>();
    const suspects: Suspect[] = [];
    const counts = new Map<OddityKind, number>();
    const properties: Record<string, string> = {};
    let boot: number | null = null;
    const batches = new RawBatches((batch) => {
      let part = parts.get(batch.schema);
      if (part === undefined) {
        const origin = { boot, scaledEnergy: scalesEnergy(properties) };
        part = new RawPart(path, batch.schema, nths.get(batch.schema.name) ?? 0, origin);
        parts.set(batch.schema, part);
      }
      part.add(batch, budget);
    });
    const strange = ({ kind, line, reason }: RawProblem) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= LISTED) suspects.push({ file: path, what: `line ${line}: ${reason}` });
    };
    const visitor: RawVisitor = {
      property: (name, value) => {
        batches.property(name, value);
        properties[name] = value;
        const folder = name === 'hostname' ? foreignFolder(path, value.trim()) : null;
        if (folder === null) return;
        suspects.push({ file: path, what: `$hostname is ${value.trim()}, the folder ${folder}` });
      },
      schema: (schema) => {
        batches.schema(schema);
        const name = `node_${schema.type}`;
        nths.set(name, (nths.get(name) ?? -1) + 1);
      },
      group: (group) => {
        boot = group.boot;
        batches.group(group);
      },
      mark: (text) => batches.mark(text),
      record: (schema, device, values) => batches.record(schema, device, values),
      problem: strange,
      oddity: strange,
    };
    try {
      await readRaw(path, visitor);
    } catch (error) {
      if (!(error instanceof TaccError)) throw error;
      // What came before was delivered.
      suspects.push({ file: path, what: error.message.replace(`${path}: `, '') });
    }
    batches.flush();
    // One file is in memory, or it is not.
    const all = [...parts.values()];
    if (all.some(({ kept }) => !kept)) for (const part of all) part.release();
    for (const [kind, count] of counts) {
      if (count <= LISTED) continue;
      suspects.push({ file: path, what: `${count - LISTED} more: ${ODDITIES[kind]}` });
    }
    return { format: 'tacc', parts: all, suspects, close() {} };
  },
};

const LOADERS: readonly Loader[] = [FRAMES, RAW_STATS];

/** All other formats: what `formats/registry.ts` lists. */
function loadKnown(source: FileSource): Loaded | null {
  const found = identify(source);
  if (found === null || found.detection.confidence < SURE) return null;
  const { format } = found;
  const { suspect } = format.info(source);
  const parts = format
    .schemas(source, { salvage: true })
    .map((schema) => new FormatPart(format, source, schema));
  return {
    format: format.name,
    parts,
    suspects: suspect.map(({ where, what }) => ({ file: source.path, what: `${where}: ${what}` })),
    zero: format.zero?.(source) ?? null,
    close: () => source.close(),
  };
}

/** Opens a file; null where it is of no format with samples. @throws a file system's error as it is */
export async function loadFile(path: string, budget: KeptBudget): Promise<Loaded | null> {
  const source = openFile(path);
  let keep = false;
  try {
    const head = new Uint8Array(HEAD_BYTES);
    const bytes = head.subarray(0, source.read(0, head));
    const loader = LOADERS.find((one) => one.detect(bytes, path));
    if (loader !== undefined) return await loader.load(path, budget);
    const loaded = source.size === 0 ? null : loadKnown(source);
    keep = loaded !== null;
    return loaded;
  } finally {
    if (!keep) source.close();
  }
}
