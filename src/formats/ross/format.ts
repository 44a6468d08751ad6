/** ROSS's instrumentation files of every era as one format. */
import { basename } from 'node:path';
import type { Batch, Schema } from '../../model/metric.ts';
import { RECORDING_FILE } from '../../model/recording.ts';
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
import { checkPayload, type PayloadField, payloadLayout } from '../payload.ts';
import { textBeside } from '../source.ts';
import { Batcher } from './read/batches.ts';
import { BlockReader } from './read/blocks.ts';
import { KINDS } from './read/chunk.ts';
import { detectRoss, HEAD_BYTES, type RossDetection } from './read/detect.ts';
import { planFor, project } from './read/plan.ts';
import { RossRecords } from './read/records.ts';
import { Survey } from './read/survey.ts';

const known = new WeakMap<FileSource, RossDetection>();

/** What the file is. @throws FormatError for a file that is none of ROSS's */
function detectionOf(source: FileSource): RossDetection {
  const cached = known.get(source);
  if (cached !== undefined) return cached;
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const detection = detectRoss(head.subarray(0, source.read(0, head)), source);
  if (detection === null) {
    throw new FormatError({
      path: source.path,
      offset: -1,
      what: 'expected a file of ROSS’s instrumentation; its content makes no sense as one',
      skipped: 0,
    });
  }
  known.set(source, detection);
  return detection;
}

interface NamedPayload {
  readonly path?: unknown;
  readonly payload?: unknown;
}

/** The layout of the model's bytes that the recording around a file names; undefined where there is none. */
function recordedPayload(source: FileSource): readonly PayloadField[] | undefined {
  for (const place of [RECORDING_FILE, `../${RECORDING_FILE}`]) {
    const text = textBeside(source, place);
    if (text === null) continue;
    try {
      const { sources = [] } = JSON.parse(text) as { sources?: { files?: NamedPayload[] }[] };
      const file = sources
        .flatMap(({ files = [] }) => files)
        .find(({ path }) => typeof path === 'string' && basename(path) === basename(source.path));
      if (file?.payload !== undefined) return checkPayload(file.payload, place);
    } catch {
      // A recording's own reader says what is wrong with it; the file can be read without.
    }
  }
  return undefined;
}

const withPayload = (source: FileSource, options: ScanOptions): ScanOptions => {
  const payload = options.payload ?? recordedPayload(source);
  return payload === undefined ? options : { ...options, payload };
};

function readerFor(
  source: FileSource,
  options: ScanOptions,
  onDamage: (damage: Damage) => void,
): BlockReader {
  const { layout } = detectionOf(source);
  return new BlockReader(source, layout, { ...options, onDamage });
}

function scan(source: FileSource, visitor: Visitor, given: ScanOptions = {}): void {
  const options = withPayload(source, given);
  const { layout, mode } = detectionOf(source);
  const reader = readerFor(source, options, (damage) => visitor.damage?.(damage));
  const { batch } = visitor;
  const batcher = batch && new Batcher(layout, mode, options, (b) => visitor.batch?.(b));
  const payload = options.payload === undefined ? null : payloadLayout(options.payload);
  const records = new RossRecords(layout, payload);
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

function* batches(source: FileSource, given: ScanOptions = {}): Generator<Batch, void> {
  const options = withPayload(source, given);
  const { layout, mode } = detectionOf(source);
  const reader = readerFor(source, options, () => {});
  const ready: Batch[] = [];
  const batcher = new Batcher(layout, mode, options, (batch) => ready.push(batch));
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
function schemas(source: FileSource, given: ScanOptions = {}): readonly Schema[] {
  const options = withPayload(source, given);
  const { layout, mode } = detectionOf(source);
  const payload = options.payload === undefined ? null : payloadLayout(options.payload);
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
  const survey = new Survey(detectionOf(source));
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
