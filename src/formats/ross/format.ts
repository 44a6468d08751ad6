/** ROSS's instrumentation files of every era as one format. */
import type { Batch, Schema } from '../../model/metric.ts';
import {
  type Damage,
  type Detection,
  type FileInfo,
  type FileSource,
  type Format,
  FormatError,
  type ScanOptions,
  type Visitor,
} from '../format.ts';
import { type PayloadField, payloadLayout } from '../payload.ts';
import { Batcher } from './read/batches.ts';
import { BlockReader } from './read/blocks.ts';
import { KINDS } from './read/chunk.ts';
import { detectRoss, HEAD_BYTES, type RossDetection } from './read/detect.ts';
import { planFor, project } from './read/plan.ts';
import { RossRecords } from './read/records.ts';
import { Survey } from './read/survey.ts';
import type { Told } from './read/told.ts';

const known = new WeakMap<FileSource, RossDetection>();

function detected(source: FileSource, options: ScanOptions): RossDetection {
  const told = options.given !== undefined || options.payload !== undefined;
  const cached = told ? undefined : known.get(source);
  if (cached !== undefined) return cached;
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const bytes = head.subarray(0, source.read(0, head));
  const detection = detectRoss(bytes, source, told ? options : undefined);
  if (detection === null) {
    throw new FormatError({
      path: source.path,
      offset: -1,
      what: 'expected a file of ROSS’s instrumentation; its content makes no sense as one',
      skipped: 0,
    });
  }
  if (!told) known.set(source, detection);
  return detection;
}

/** What the file is. @throws FormatError for a file that is none of ROSS's, or of which nothing decides what it is */
function detectionOf(source: FileSource, options: ScanOptions): RossDetection {
  const detection = detected(source, options);
  const { doubt } = detection;
  if (doubt === null) return detection;
  throw new FormatError(
    { path: source.path, offset: -1, what: doubt.what, skipped: 0 },
    doubt.mend,
  );
}

/** The fields of the model's bytes, where all LPs have the same. */
function fieldsOf({ model }: Told): readonly PayloadField[] | null {
  const [first] = model?.types ?? [];
  const text = JSON.stringify(first?.fields);
  const same = model?.types.every(({ fields }) => JSON.stringify(fields) === text);
  return same ? (first?.fields ?? null) : null;
}

function readerFor(
  source: FileSource,
  options: ScanOptions,
  onDamage: (damage: Damage) => void,
): BlockReader {
  const { layout } = detected(source, options);
  return new BlockReader(source, layout, { ...options, onDamage });
}

function scan(source: FileSource, visitor: Visitor, options: ScanOptions = {}): void {
  const { layout, mode, told } = detectionOf(source, options);
  const reader = readerFor(source, options, (damage) => visitor.damage?.(damage));
  const { batch } = visitor;
  const payload = fieldsOf(told);
  const deliver = (one: Batch) => visitor.batch?.(one);
  const batcher = batch && new Batcher(layout, mode, payload, options, deliver, source.size);
  const records = new RossRecords(layout, told.model);
  try {
    for (const block of reader.blocks()) {
      batcher?.add(block);
      if (visitor.records?.(records.load(block)) === false) return;
    }
  } finally {
    // What was read before damage is delivered before the damage is reported.
    batcher?.flush();
  }
}

function* batches(source: FileSource, options: ScanOptions = {}): Generator<Batch, void> {
  const { layout, mode, told } = detectionOf(source, options);
  const reader = readerFor(source, options, () => {});
  const ready: Batch[] = [];
  const deliver = (batch: Batch) => ready.push(batch);
  const batcher = new Batcher(layout, mode, fieldsOf(told), options, deliver, source.size);
  let fault: unknown = null;
  const blocks = reader.blocks();
  for (;;) {
    try {
      const { value, done } = blocks.next();
      if (done) break;
      batcher.add(value);
    } catch (error) {
      fault = error;
      break;
    }
    yield* ready.splice(0);
  }
  batcher.flush();
  yield* ready.splice(0);
  if (fault !== null) throw fault;
}

/** Reads the file to its end: only then is it known which kinds it has. */
function schemas(source: FileSource, options: ScanOptions = {}): readonly Schema[] {
  const { layout, mode, told, doubt } = detected(source, options);
  if (doubt !== null) return [];
  const fields = fieldsOf(told);
  const payload = fields && payloadLayout(fields);
  const counts = new Array<number>(KINDS).fill(0);
  const reader = readerFor(source, { ...options, salvage: true }, () => {});
  for (const block of reader.blocks()) {
    for (let kind = 0; kind < KINDS; kind++) counts[kind] += block.of[kind].count;
  }
  return counts.flatMap((count, kind) => {
    const plan = count === 0 ? null : planFor(layout, kind, mode, payload);
    if (plan === null || options.tables?.includes(plan.schema.name) === false) return [];
    return [project(plan, options.columns).schema];
  });
}

function info(source: FileSource, given: ScanOptions = {}): FileInfo {
  const detection = detected(source, given);
  const survey = new Survey(detection);
  const { doubt } = detection;
  if (doubt !== null) {
    const what = `${doubt.what}; ${doubt.mend}`;
    survey.damaged({ path: source.path, offset: -1, what, skipped: 0 });
    return survey.info(source);
  }
  const reader = readerFor(source, given, (damage) => survey.damaged(damage));
  try {
    for (const block of reader.blocks()) survey.add(block);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    survey.damaged(error.damage);
  }
  return survey.info(source);
}

export const ROSS: Format = {
  name: 'ross',
  help: 'ROSS: samples of PEs, KPs, LPs and models, and event traces, of December 2016 to today',
  detect: (head: Uint8Array, source: FileSource): Detection | null => {
    const detection = detectRoss(head, source);
    if (detection !== null) known.set(source, detection);
    return detection;
  },
  scan,
  batches,
  schemas,
  info,
};
