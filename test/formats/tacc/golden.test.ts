/** Genuine raw stats files against the facts that an independent decoder found in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatSchema, parseSchema } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';
import { visitRaw } from './support/visit.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'tacc_stats');

interface Facts {
  readonly file: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly schema_lengths: Readonly<Record<string, number>>;
  readonly groups: readonly {
    line: number;
    time: string;
    jobids: string[];
    host: string | null;
    marks: string[];
    records: number;
  }[];
  readonly records_per_type: Readonly<Record<string, number>>;
  readonly discarded_lines: readonly [number, string, string][];
}

/** Facts beside the files that they are about. */
function cases(): [string, string, string][] {
  if (GOLDEN === undefined) return [['needs TRISCOPE_GOLDEN', '', '']];
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => /facts_[^/]*\.json$/.test(path))
    .sort()
    .map((path) => {
      const folder = join(ROOT, path, '..');
      const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const named = path.match(/facts_(.*)\.json/)?.[1] ?? '';
      const file = all.find(
        (name) => !name.includes('facts') && name.includes(named) && /\/\d+(\.gz)?$/.test(name),
      );
      return [path, join(ROOT, path), join(folder, file ?? 'none')];
    });
}

describe.skipIf(GOLDEN === undefined)('genuine files', () => {
  it.each(cases())('%s', async (_, factsPath, path) => {
    expect(existsSync(path)).toBe(true);
    const facts = JSON.parse(readFileSync(factsPath, 'utf8')) as Facts;
    const properties: Record<string, string> = {};
    const lengths: Record<string, number> = {};
    const perType: Record<string, number> = {};
    const groups: {
      line: number;
      time: string;
      jobids: string[];
      host: string | null;
      marks: string[];
      records: number;
    }[] = [];
    const discarded: [number, string][] = [];
    const summary = visitRaw(path, {
      property: (name, value) => {
        properties[name] = value;
      },
      schema: (schema) => {
        lengths[schema.type] = schema.keys.length;
        const line = formatSchema(schema);
        expect(parseSchema(line.slice(1))).toEqual(schema);
      },
      group: ({ line, time, jobIds, host }) =>
        groups.push({ line, time, jobids: [...jobIds], host, marks: [], records: 0 }),
      mark: (text) => groups.at(-1)?.marks.push(text),
      record: ({ type }) => {
        perType[type] = (perType[type] ?? 0) + 1;
        const group = groups.at(-1);
        if (group) group.records++;
      },
      problem: ({ line, text }) => discarded.push([line, text]),
    });
    expect(properties).toMatchObject(facts.properties);
    expect(lengths).toEqual(facts.schema_lengths);
    expect(groups).toEqual(facts.groups);
    expect(perType).toEqual(facts.records_per_type);
    expect(discarded.map(([line]) => line)).toEqual(facts.discarded_lines.map(([line]) => line));
    expect(summary.problems).toBe(facts.discarded_lines.length);
  });
});
