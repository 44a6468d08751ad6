/** Raw stats files of tacc_stats and hpcperfstats as a format. */
import type { Batch, Schema } from '../../model/metric.ts';
import {
  type Damage,
  type FileSource,
  type Format,
  FormatError,
  type RecordBlock,
  type ScanOptions,
  type Visitor,
} from '../format.ts';
import { RawBatches } from './batches.ts';
import { blocksOf } from './blocks.ts';
import { detectRaw } from './detect.ts';
import { RawParser } from './parser.ts';
import { RawRecords } from './records.ts';
import { MARK_SCHEMA, tableSchema } from './schema.ts';
import { surveyRaw } from './survey.ts';
import type { RawProblem, RawVisitor } from './visitor.ts';

/** Tells `first`, then `second`. */
function both(first: RawVisitor, second: RawVisitor): RawVisitor {
  return {
    property: (name, value, line) => {
      first.property?.(name, value, line);
      second.property?.(name, value, line);
    },
    schema: (schema, line) => {
      first.schema?.(schema, line);
      second.schema?.(schema, line);
    },
    group: (group) => {
      first.group?.(group);
      second.group?.(group);
    },
    mark: (text, line) => {
      first.mark?.(text, line);
      second.mark?.(text, line);
    },
    record: (schema, device, values, line) => {
      first.record?.(schema, device, values, line);
      second.record?.(schema, device, values, line);
    },
  };
}

/**
 * Lines that cannot be used are left out whatever `salvage` says, as by the original's readers; each is told.
 * @throws FormatError where the file ends within a line, or its gzip is damaged
 */
function scan(source: FileSource, visitor: Visitor, options: ScanOptions = {}): void {
  const { path } = source;
  const take = (block: RecordBlock) => visitor.records?.(block);
  const records = visitor.records && new RawRecords(take);
  const batches =
    visitor.batch && new RawBatches((batch) => visitor.batch?.(batch), { ...options });
  let cut: Damage | null = null;
  const problem = ({ kind, line, reason, text }: RawProblem) => {
    const what = text === '' ? reason : `${reason}: ${text}`;
    const damage = { path, offset: -1, line, what, skipped: text.length };
    if (kind === 'cut' && options.salvage !== true) cut = damage;
    else visitor.damage?.(damage);
  };
  const parser = new RawParser({ ...both(records ?? {}, batches ?? {}), problem });
  try {
    for (const block of blocksOf(source, options.bufferBytes)) {
      parser.push(block);
      if (records?.stopped === true) return;
    }
  } finally {
    // What came before damage is delivered before the damage is reported.
    parser.end();
    records?.end();
    batches?.flush();
  }
  if (cut !== null) throw new FormatError(cut);
}

function* batchesOf(source: FileSource, options: ScanOptions = {}): Generator<Batch, void> {
  const ready: Batch[] = [];
  const batches = new RawBatches((batch) => ready.push(batch), { ...options });
  const parser = new RawParser(batches);
  let fault: unknown = null;
  const blocks = blocksOf(source, options.bufferBytes);
  try {
    for (;;) {
      try {
        const { value, done } = blocks.next();
        if (done) break;
        parser.push(value);
      } catch (error) {
        fault = error;
        break;
      }
      yield* ready.splice(0);
    }
  } finally {
    blocks.return?.(undefined);
  }
  parser.end();
  batches.flush();
  yield* ready.splice(0);
  if (fault !== null && options.salvage !== true) throw fault;
}

function schemas(source: FileSource, { tables }: ScanOptions = {}): readonly Schema[] {
  const found = new Map<string, Schema>();
  const add = (schema: Schema) => {
    if (tables?.includes(schema.name) !== false) found.set(schema.name, schema);
  };
  const parser = new RawParser({
    schema: (schema) => add(tableSchema(schema)),
    mark: () => add(MARK_SCHEMA),
  });
  try {
    for (const block of blocksOf(source)) parser.push(block);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return [...found.values()];
}

export const TACC: Format = {
  name: 'tacc',
  help: 'raw stats files of tacc_stats and hpcperfstats, plain or gzip',
  detect: (head) => detectRaw(head),
  scan,
  batches: batchesOf,
  schemas,
  info: surveyRaw,
};
