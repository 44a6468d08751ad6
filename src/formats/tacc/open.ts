/**
 * Opens a raw stats file: one pass gives its tables and its survey. Callers that need to know which records were taken together
 * get the rows of all tables in the order of the file:
 *
 *     node_group ── node_mark ── node_cpu ── node_cpu ── node_mem ── node_group ── …
 */

import { scalesEnergy } from '../../model/counter-rules.ts';
import { type FileSource, FormatError, type PassOptions } from '../format.ts';
import type { OpenFile, RawRows, TakeRows } from '../part.ts';
import { isSalvaged } from '../records.ts';
import { endsLine } from '../source.ts';
import { blocksOf, isPacked } from './blocks.ts';
import { detectRaw, detectText } from './detect.ts';
import { RawParser } from './parser.ts';
import { RawPart, type RawTable, RecordPlace } from './part.ts';
import { RawRecords } from './records.ts';
import { GROUP_SCHEMA, MARK_SCHEMA } from './schema.ts';
import { RawSurvey } from './survey.ts';
import type { RawProblem, RawVisitor } from './visitor.ts';

const HEAD_BYTES = 1 << 14;

/** Options that only this format has. */
export interface RawOpenOptions extends Omit<PassOptions, 'take'> {
  /** Gets each row while the file is read. */
  readonly take?: (table: RawTable, rows: RawRows) => void;
  /** Rows are passed on one by one in the order of the file, and each group's line is a row, too. */
  readonly inOrder?: boolean;
  /** Records of other types are skipped: not read, checked or reported. */
  readonly types?: readonly string[];
  /** A file that is no raw stats file counts as damaged. */
  readonly strict?: boolean;
}

/** A raw stats file after the pass over it. */
export interface RawFile extends OpenFile {
  readonly lines: number;
  /** Why it could not be read to its end; null if it could. */
  readonly fault: FormatError | null;
}

/** Reads the file once. */
export function openRaw(source: FileSource, options: PassOptions = {}): OpenFile {
  const opening = openingRaw(source, options);
  for (;;) {
    const step = opening.next();
    if (step.done === true) return step.value;
  }
}

/** Reads the file once, one block per step, so that others get their turn. */
export function* openingRaw(
  source: FileSource,
  options: RawOpenOptions = {},
): Generator<void, RawFile, void> {
  const { keep, counters = false, bufferBytes, records: told } = options;
  const { inOrder = false, types, strict = false } = options;
  const { path } = source;
  let { growing = false } = options;
  const packed = isPacked(source);
  const grows = !packed && (growing || endsLine(source));
  const survey = new RawSurvey(source, counters);
  const place = new RecordPlace();
  const parts: RawPart[] = [];
  const byType = new Map<string, RawPart>();
  const nths = new Map<string, number>();
  const properties: Record<string, string> = {};
  let boot: number | null = null;
  let marks: RawPart | null = null;
  let groups: RawPart | null = null;
  let take: RawOpenOptions['take'] | null = options.take;
  const add = (type: ConstructorParameters<typeof RawPart>[1], nth: number): RawPart => {
    const origin = { boot, scaledEnergy: scalesEnergy(properties) };
    const part = new RawPart(source, type, nth, origin, { keep, growing, inOrder });
    follow(part);
    parts.push(part);
    return part;
  };
  const follow = (part: RawPart): void => {
    part.flush(take ? (rows) => take?.(part, rows) : null);
  };
  const records = told && new RawRecords(told);
  /** Thrown to readers of records once all before it has been delivered. */
  let fault: FormatError | null = null;
  const visitor: RawVisitor = {
    property(name, value) {
      properties[name] = value;
      records?.property(name, value);
      place.property(name, value);
      survey.property(name, value);
    },
    schema(raw) {
      nths.set(raw.type, (nths.get(raw.type) ?? -1) + 1);
      byType.delete(raw.type);
    },
    group(group) {
      boot = group.boot;
      place.group(group);
      survey.group(group);
      records?.group(group);
      if (!inOrder) return;
      groups ??= add(GROUP_SCHEMA, 0);
      groups.add(place, null, null);
    },
    mark(text) {
      survey.mark();
      records?.mark(text);
      marks ??= add(MARK_SCHEMA, 0);
      marks.add(place, text, null);
    },
    record(raw, device, values, line) {
      if (counters) survey.record(raw, device, values, line);
      records?.record(raw, device, values, line);
      let part = byType.get(raw.type);
      if (part === undefined) {
        // With the first record, because by then the header has told when the host was started.
        part = add(raw, nths.get(raw.type) ?? 0);
        byType.set(raw.type, part);
      }
      part.add(place, device, values);
    },
    problem(problem: RawProblem) {
      survey.problem(problem);
      const { kind, line, reason, text } = problem;
      const what = text === '' ? reason : `${reason}: ${text}`;
      const damage = { path, offset: -1, line, what, skipped: text.length };
      if (kind === 'cut' && !isSalvaged(options)) fault ??= new FormatError(damage);
      else options.damage?.(damage);
    },
    oddity: (oddity) => survey.oddity(oddity),
  };
  const parser = new RawParser(visitor, types && { types });
  let at = 0;
  const begin = (block: Uint8Array): void => {
    const head = new Uint8Array(packed ? 0 : Math.min(source.size, HEAD_BYTES));
    source.read(0, head);
    survey.detection = packed ? detectText(block, true) : detectRaw(head);
    if (!strict || survey.detection !== null) return;
    throw none('not a raw stats file, which begins with $tacc_stats or $hpcperfstats');
  };
  const none = (what: string) => new FormatError({ path, offset: -1, line: 1, what, skipped: 0 });
  function* pass(): Generator<void> {
    try {
      for (const block of blocksOf(source, bufferBytes, at)) {
        if (at === 0) begin(block);
        parser.push(block);
        at += block.length;
        yield;
      }
      if (strict && at === 0) throw none('empty, not a raw stats file');
    } catch (error) {
      if (!(error instanceof FormatError) || (strict && at === 0)) throw error;
      survey.damaged(error.damage, parser.summary.lines);
      fault = error;
    }
    if (!growing) parser.end();
    records?.end();
    if (told !== undefined && fault !== null) throw fault;
    for (const part of parts) part.flush();
  }
  yield* pass();
  take = null;
  return {
    parts,
    get suspect() {
      return survey.suspect;
    },
    zero: null,
    get lines() {
      return parser.summary.lines;
    },
    get fault() {
      return fault;
    },
    info: () => survey.info(parser.summary, recordsOf(parts)),
    ...(grows && {
      grow(taker: TakeRows) {
        growing = true;
        if (source.refresh() <= at) return;
        take = taker;
        for (const part of parts) follow(part);
        for (const _ of pass());
        take = null;
      },
    }),
  };
}

/** By type. */
function recordsOf(parts: readonly RawPart[]): Record<string, number> {
  const records: Record<string, number> = {};
  for (const { type, rows } of parts) {
    if (type !== null) records[type.type] = (records[type.type] ?? 0) + rows;
  }
  return records;
}
