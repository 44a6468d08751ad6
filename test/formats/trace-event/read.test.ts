/** Trace events of other tracers: what they hold is in tables, also where a tracer was killed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { scanRecords } from '../../../src/formats/records.ts';
import { identify } from '../../../src/formats/registry.ts';
import { bytesSource } from '../../../src/formats/source.ts';
import { TRACE_EVENT } from '../../../src/formats/trace-event/format.ts';
import { openHere } from '../../query/support/open-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'trace-event-'));
afterAll(() => rmSync(folder, { recursive: true }));

const at = (ph: string, ts: number, more: object = {}) => ({ ph, ts, pid: 7, tid: 8, ...more });
const EVENTS = [
  at('X', 3_000_000, { dur: 500_000, name: 'draw', cat: 'gpu' }),
  at('B', 1_000_000, { name: 'outer' }),
  at('B', 1_250_000, { name: 'inner' }),
  at('E', 1_500_000),
  at('E', 2_000_000),
  at('B', 4_000_000, { name: 'open' }),
  at('i', 1_100_000, { name: 'mark', s: 't' }),
  at('C', 500_000, { name: 'memory', args: { used: 10, free: 2.5 } }),
  at('C', 600_000, { name: 'memory', args: { used: 11 } }),
  at('s', 1_000_000, { id: 1, name: 'flow' }),
  { ph: 'M', pid: 7, name: 'process_name', args: { name: 'solver' } },
  { ph: 'M', pid: 7, tid: 8, name: 'thread_name', args: { name: 'main' } },
];

const opened = (text: string) => {
  const source = bytesSource('trace.json', new TextEncoder().encode(text));
  expect(identify(source)?.format.name).toBe('trace-event');
  return TRACE_EVENT.open(source);
};

describe('trace events of others', () => {
  it.each([
    ['a list', JSON.stringify(EVENTS)],
    ['an object', JSON.stringify({ displayTimeUnit: 'ms', traceEvents: EVENTS })],
  ])('in %s are slices, instants and counters, by time, with names', async (_, text) => {
    const path = join(folder, 'trace.json');
    writeFileSync(path, text);
    const recording = await openHere(path);
    const [slices, instants, counters] = [
      await recording.query('SELECT t, process, thread, name, category, duration FROM trace_slice'),
      await recording.query('SELECT t, name FROM trace_instant'),
      await recording.query('SELECT t, counter, series, value FROM trace_counter ORDER BY ALL'),
    ];
    const { suspects } = recording;
    await recording.close();
    const where = { process: 'solver 7', thread: 'main 8' };
    expect(slices).toEqual([
      { t: 1, ...where, name: 'outer', category: null, duration: 1 },
      { t: 1.25, ...where, name: 'inner', category: null, duration: 0.25 },
      { t: 3, ...where, name: 'draw', category: 'gpu', duration: 0.5 },
      { t: 4, ...where, name: 'open', category: null, duration: null },
    ]);
    expect(instants).toEqual([{ t: 1.1, name: 'mark' }]);
    expect(counters).toEqual([
      { t: 0.5, counter: 'memory', series: 'free', value: 2.5 },
      { t: 0.5, counter: 'memory', series: 'used', value: 10 },
      { t: 0.6, counter: 'memory', series: 'used', value: 11 },
    ]);
    expect(suspects).toEqual([]);
    let printed = 0;
    scanRecords(TRACE_EVENT, bytesSource('trace.json', new TextEncoder().encode(text)), {
      records(block) {
        printed += block.length;
        return undefined;
      },
    });
    expect(printed).toBe(8);
    expect(opened(text).info()).toMatchObject({
      records: { slice: 4, instant: 1, counter: 3, 'phase s': 1 },
      ...{ from: { real_time: 0.5 }, to: { real_time: 4 }, damaged: false },
    });
  });

  it('that break off are read up to there, and that is told', () => {
    const text = JSON.stringify({ traceEvents: EVENTS.slice(0, 9) });
    for (const cut of [2, 10, 30]) {
      const { parts, suspect } = opened(text.slice(0, -cut));
      expect(parts[0].schema.name).toBe('trace_slice');
      expect(parts.at(-1)?.rows).toBe(cut === 2 ? 3 : 2);
      expect(suspect).toEqual([
        { where: expect.stringMatching(/^byte \d+$/), what: expect.stringMatching(/breaks off/) },
      ]);
    }
    expect(opened('[{"ph":"X","ts":1').suspect).toHaveLength(1);
  });

  it('that are damaged in their middle are read but for what is damaged, and that is told', () => {
    const good = EVENTS.map((event) => JSON.stringify(event));
    // Between the two beginnings: the ends that follow may be of others.
    const lost = [...good.slice(0, 2), '{"ph":"X","ts":NaN}', ...good.slice(2)].join(',\n');
    const { parts, suspect, info } = opened(`[${lost}]`);
    expect(info().records).toMatchObject({ slice: 4, instant: 1, counter: 3 });
    const [{ columns }] = [...parts[0].read([0, 5])];
    expect(columns.map((column) => [...column])).toEqual([
      [1, 1.25, 3, 4],
      [NaN, 0.25, 0.5, NaN],
    ]);
    expect(suspect).toEqual([
      {
        where: `byte ${good[0].length + good[1].length + 4}`,
        what: expect.stringContaining('no JSON'),
      },
    ]);
    // A quotation mark is missing: nobody can tell where the next event begins.
    const open = opened(`[${good.join(',\n').replace('"outer"', '"outer')}]`);
    expect(open.info().records).toEqual({ slice: 1 });
    expect(open.suspect).toEqual([
      { where: `byte ${good[0].length + 2}`, what: expect.stringContaining('breaks off') },
    ]);
  });

  it('of a size, each alone, are read without limit of the file, and one without end is none', () => {
    const event = JSON.stringify(at('X', 1, { dur: 1, name: 'x'.repeat(100_000) }));
    const many = opened(`[${Array.from({ length: 40 }, () => event).join(',')}]`);
    expect([many.info().records, many.suspect]).toEqual([{ slice: 40 }, []]);
    const deep = opened(`[${event},${'['.repeat(3_000_000)}`);
    expect([deep.info().records, deep.suspect.length]).toEqual([{ slice: 1 }, 1]);
  });

  it('are not seen in JSON of other kinds', () => {
    for (const text of ['{"ph":"X","ts":1}', '[]', '{}', '[{"a":1}]', 'x "traceEvents":[']) {
      const source = bytesSource('some.json', new TextEncoder().encode(text));
      expect(identify(source)?.format.name).not.toBe('trace-event');
    }
    const untimed = opened('[{"ph":"X","ts":1e999,"dur":1},{"ph":"X","ts":1,"dur":-2}]');
    expect(untimed.info().records).toEqual({ slice: 1, 'without a time': 1 });
    const [{ columns }] = [...untimed.parts[0].read([0, 5])];
    expect(columns.map((column) => column[0])).toEqual([1e-6, Number.NaN]);
    const strange =
      '[{"ph":"X","ts":"no"},{"ph":"X","ts":1,"dur":2},3,null,{"ph":"C","ts":1,"args":[]}]';
    expect(opened(strange).info().records).toEqual({ slice: 1, 'without a time': 1 });
  });
});
