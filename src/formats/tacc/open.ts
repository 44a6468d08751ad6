/** Opens a raw stats file: one pass gives its tables and its survey. */

import { scalesEnergy } from '../../model/counter-rules.ts';
import { type FileSource, FormatError, type OpenOptions } from '../format.ts';
import type { OpenFile, TakeRows } from '../part.ts';
import { isSalvaged } from '../records.ts';
import { endsLine } from '../source.ts';
import { blocksOf, isPacked } from './blocks.ts';
import { RawParser } from './parser.ts';
import { Place, RawPart } from './part.ts';
import { RawRecords } from './records.ts';
import { MARK_SCHEMA, tableSchema } from './schema.ts';
import { Survey } from './survey.ts';
import type { RawProblem, RawVisitor } from './visitor.ts';

export function openRaw(source: FileSource, options: OpenOptions = {}): OpenFile {
  const { keep, counters = false, bufferBytes, records: told } = options;
  const { path } = source;
  let { growing = false } = options;
  const grows = !isPacked(source) && (growing || endsLine(source));
  const survey = new Survey(source, counters);
  const place = new Place();
  const parts: RawPart[] = [];
  const byType = new Map<string, RawPart>();
  const nths = new Map<string, number>();
  const properties: Record<string, string> = {};
  let boot: number | null = null;
  let marks: RawPart | null = null;
  let take: TakeRows | null = options.take ?? null;
  const add = (schema: RawPart['schema'], nth: number): RawPart => {
    const origin = { boot, scaledEnergy: scalesEnergy(properties) };
    const part = new RawPart(source, schema, nth, origin, { keep, growing });
    follow(part);
    parts.push(part);
    return part;
  };
  const follow = (part: RawPart): void => {
    part.flush(take && ((rows) => take?.(part, rows)));
  };
  const records = told && new RawRecords(told);
  /** What is thrown once all before it was told, to whom reads records. */
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
    },
    mark(text) {
      survey.mark();
      records?.mark(text);
      marks ??= add(MARK_SCHEMA, 0);
      marks.add(place, text, null);
    },
    record(raw, device, values, line) {
      survey.record(raw, device, values, line);
      records?.record(raw, device, values, line);
      let part = byType.get(raw.type);
      if (part === undefined) {
        // With the first record, whose header has told when the host was started.
        part = add(tableSchema(raw), nths.get(raw.type) ?? 0);
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
  const parser = new RawParser(visitor);
  let at = 0;
  const pass = (): void => {
    try {
      for (const block of blocksOf(source, bufferBytes, at)) {
        parser.push(block);
        at += block.length;
      }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      survey.damaged(error.damage, parser.summary.lines);
      fault = error;
    }
    if (!growing) parser.end();
    records?.end();
    if (told !== undefined && fault !== null) throw fault;
    for (const part of parts) part.flush();
  };
  pass();
  take = null;
  // One file is in memory, or it is not.
  if (parts.some(({ kept }) => !kept)) for (const part of parts) part.release();
  return {
    parts,
    get suspect() {
      return survey.suspect;
    },
    zero: null,
    info: () => survey.info(parser.summary),
    ...(grows && {
      grow(taker: TakeRows) {
        growing = true;
        if (source.refresh() <= at) return;
        take = taker;
        for (const part of parts) follow(part);
        pass();
        take = null;
      },
    }),
  };
}
