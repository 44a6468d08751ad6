/** Stream frames, such as `extra.frames` of a recording, as a format: each schema's rows are records of that name. */
import type { Batch, Schema } from '../../model/metric.ts';
import {
  type CellValue,
  type Damage,
  type FileInfo,
  type FileSource,
  type Format,
  FormatError,
  type Instant,
  type RecordBlock,
  type RecordKind,
  type ScanOptions,
  type Visitor,
} from '../format.ts';
import { FrameDecoder } from './decode.ts';
import { type FrameError, MAGIC } from './layout.ts';

const BLOCK = 1 << 20;

const isFrames = (head: Uint8Array): boolean =>
  head.length >= 4 && new DataView(head.buffer, head.byteOffset).getUint32(0, true) === MAGIC;

interface Listener {
  readonly onDamage?: (error: FrameError) => void;
  readonly onSchema?: (schema: Schema) => void;
  readonly wanted?: (schema: Schema) => boolean;
}

/** What the end of a file tells. */
interface End {
  /** Bytes that are not a whole frame. */
  readonly cut: number;
  readonly lost: number;
}

/** All batches, in file order. @throws FormatError at damage, where nothing listens for it */
function* read(source: FileSource, listener: Listener): Generator<Batch, End> {
  const decoder = new FrameDecoder(listener);
  const block = new Uint8Array(BLOCK);
  let cut = 0;
  try {
    for (let at = 0; ; ) {
      const got = source.read(at, block);
      if (got === 0) break;
      at += got;
      yield* decoder.push(block.subarray(0, got));
    }
    const rest = decoder.finish();
    cut = rest.cut;
    yield* rest.batches;
    // Damage that came behind the last good batches.
    if (rest.batches.length > 0) decoder.finish();
  } catch (error) {
    throw (error as Error).name === 'FrameError'
      ? new FormatError(damageOf(source, error as FrameError))
      : error;
  }
  return { cut, lost: decoder.lost };
}

const damageOf = ({ path }: FileSource, { offset, what }: FrameError): Damage => ({
  path,
  offset,
  what,
  skipped: 0,
});

const wantedBy =
  ({ tables }: ScanOptions) =>
  ({ name }: Schema): boolean =>
    tables?.includes(name) !== false;

/** A batch's rows as records. */
class BatchRecords implements RecordBlock {
  readonly #batch: Batch;
  readonly #kind: RecordKind;

  constructor(batch: Batch) {
    const { name, metrics } = batch.schema;
    this.#batch = batch;
    this.#kind = { name, keys: metrics.map(({ key }) => key), payload: [] };
  }

  get length(): number {
    return this.#batch.length;
  }

  kind(): RecordKind {
    return this.#kind;
  }

  offset(): number {
    return -1;
  }

  cell(record: number, key: number): CellValue {
    const value = this.#batch.columns[key][record];
    return value === '' || Number.isNaN(value) ? null : value;
  }

  payload(): null {
    return null;
  }
}

function scan(source: FileSource, visitor: Visitor, options: ScanOptions = {}): void {
  const onDamage = options.salvage
    ? (error: FrameError) => visitor.damage?.(damageOf(source, error))
    : undefined;
  const batches = read(source, { wanted: wantedBy(options), ...(onDamage && { onDamage }) });
  for (const batch of batches) {
    visitor.batch?.(batch);
    if (visitor.records?.(new BatchRecords(batch)) === false) return;
  }
}

function* batchesOf(source: FileSource, options: ScanOptions = {}): Generator<Batch, void> {
  const salvage = options.salvage && { onDamage: () => {} };
  yield* read(source, { wanted: wantedBy(options), ...salvage });
}

function schemas(source: FileSource, options: ScanOptions = {}): readonly Schema[] {
  const found = new Map<string, Schema>();
  const onSchema = (schema: Schema) => {
    if (wantedBy(options)(schema)) found.set(schema.name, schema);
  };
  const all = read(source, { onSchema, onDamage: () => {}, wanted: () => false });
  while (!all.next().done);
  return [...found.values()];
}

/** The columns whose least and largest values are the file's span. */
const TIMES = ['real_time', 'virtual_time'] as const;

class Span {
  from = Number.POSITIVE_INFINITY;
  to = Number.NEGATIVE_INFINITY;

  add({ schema, columns, length }: Batch, key: string): void {
    const at = schema.metrics.findIndex((metric) => metric.key === key);
    if (at < 0) return;
    for (let row = 0; row < length; row++) {
      const value = Number(columns[at][row]);
      if (value < this.from) this.from = value;
      if (value > this.to) this.to = value;
    }
  }
}

function info(source: FileSource): FileInfo {
  const suspect: { where: string; what: string }[] = [];
  const records = new Map<string, number>();
  const spans = TIMES.map((key) => ({ key, span: new Span() }));
  let damaged = false;
  const onDamage = ({ offset, what }: FrameError) => {
    damaged = true;
    suspect.push({ where: `byte ${offset}`, what });
  };
  const all = read(source, { onDamage });
  let step = all.next();
  for (; !step.done; step = all.next()) {
    const batch = step.value;
    const { name } = batch.schema;
    records.set(name, (records.get(name) ?? 0) + batch.length);
    for (const { key, span } of spans) span.add(batch, key);
  }
  const { cut, lost } = step.value;
  if (cut > 0) {
    const what = `its last ${cut} bytes are not a whole frame: the writer was stopped`;
    suspect.push({ where: `byte ${source.size - cut}`, what });
  }
  if (lost > 0) suspect.push({ where: 'file', what: `${lost} frames are missing` });
  const instant = (end: 'from' | 'to'): Instant | null => {
    const known = spans.filter(({ span }) => Number.isFinite(span[end]));
    return known.length === 0
      ? null
      : Object.fromEntries(known.map(({ key, span }) => [key, span[end]]));
  };
  return {
    path: source.path,
    format: 'frames',
    era: 'stream frames',
    because: 'it begins with TRIF',
    bytes: source.size,
    records: Object.fromEntries(records),
    entities: {},
    from: instant('from'),
    to: instant('to'),
    suspect,
    damaged,
  };
}

export const FRAMES: Format = {
  name: 'frames',
  help: 'stream frames: extra.frames of a recording, files of --stream',
  detect: (head) =>
    isFrames(head) ? { confidence: 1, because: 'it begins with TRIF', era: 'stream frames' } : null,
  scan,
  batches: batchesOf,
  schemas,
  info,
};
