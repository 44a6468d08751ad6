/** Fields sized by options, records, words, tables, random numbers in `prepare`, lookaheads of types. */
import '../support/small-machine.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  array,
  cos,
  defineModel,
  int,
  type LoadedModel,
  loadModel,
  ring,
  type Settings,
  simulate,
  sin,
  timers,
  verify,
  word,
} from 'triscope/sim';
import { line, resource, store } from 'triscope/sim/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const EXAMPLE = fileURLToPath(new URL('../../examples/parcels.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'triscope-rich-'));
let parcels: LoadedModel;
beforeAll(async () => {
  parcels = await loadModel(EXAMPLE);
});
afterAll(() => {
  parcels.dispose();
  rmSync(folder, { recursive: true });
});

const told = async (model: LoadedModel, settings: Settings) => {
  const { finished, netEvents, eventDigest, stateDigest, results } = await simulate(
    model,
    settings,
  );
  return { finished, netEvents, eventDigest, stateDigest, results };
};

describe('the example with parcels', () => {
  const ground: Settings = { end: 48, options: { depots: 9, shops: 21, places: 25 } };

  it('commits the same on 1, 2 and 3 PEs, with every synchroniser', async () => {
    const truth = await told(parcels, ground);
    const { ordered, delivered, refused, waiting } = truth.results.totals;
    expect(refused).toBeGreaterThan(10);
    expect(delivered).toBeGreaterThan(200);
    // The others are on their way.
    expect(ordered).toBeGreaterThan(delivered + refused + waiting);
    for (const way of [
      { synch: 'rollback-check' },
      { synch: 'optimistic-debug' },
      { synch: 'optimistic', pes: 1, nkp: 2, batch: 200 },
      { synch: 'optimistic', pes: 2, batch: 4, gvtInterval: 4 },
      { synch: 'optimistic', pes: 3 },
      { synch: 'conservative', pes: 2 },
      { synch: 'conservative', pes: 3 },
    ] as const)
      expect([way, await told(parcels, { ...ground, ...way })]).toEqual([way, truth]);
  });

  it('stands chaos', async () => {
    const settings = { ...ground, end: 12 };
    const rows = await verify(parcels, settings, { chaos: { first: 1, runs: 5 } });
    expect(rows.length).toBe(6);
    expect(rows.filter(({ same }) => !same)).toEqual([]);
  });

  it('has as much memory as its options ask for', async () => {
    const bytes = async (options: Record<string, number>) =>
      (await simulate(parcels, { end: 1, options: { depots: 9, shops: 21, ...options } })).lpBytes;
    const more = (await bytes({ places: 1025 })) - (await bytes({ places: 25 }));
    expect(more).toBe(1000 * 16);
  });
});

/** What a handler throws, in a model whose single event calls it. */
async function refusal(work: (lp: { readonly state: never }) => void): Promise<string> {
  const model = defineModel({
    name: 'm',
    lps: () => 1,
    end: 10,
    state: { a: array({ at: 'f32', by: 'u8', ok: 'bool' }, 2), r: ring({ at: 'f64' }, 2) },
    message: {},
    init: (lp) => void lp.send(0, 1),
    forward: (lp) => work(lp as never),
  });
  return simulate(model).then(
    () => 'it ran',
    (error: Error) => error.message,
  );
}

describe('records', () => {
  it('are kept in arrays and rings, each field as its type says', async () => {
    const seen: unknown[] = [];
    const model = defineModel({
      name: 'm',
      lps: () => 1,
      end: 10,
      state: {
        a: array({ at: 'f32', by: 'u8', ok: 'bool', how: word(['slow', 'fast']) }, 2),
        r: ring({ at: 'f64', by: 'i16' }, 3),
      },
      message: {},
      init({ state: { a, r } }) {
        seen.push(a.length, a.get(1), r.length, r.capacity);
        a.set(1, { at: 0.1, ok: true });
        a.set(1, { by: 255, how: 'fast' });
        for (let k = 0; k < 5; k++) {
          r.push({ at: k / 2, by: -k });
          if (k > 1) seen.push(r.shift());
        }
        r.set(1, { at: 7 });
        seen.push(a.get(0), a.get(1), r.get(0), r.get(1), r.length);
        // A copy: what is changed later is not in it.
        const copy = r.get(0);
        r.clear();
        r.push({ at: 9, by: 9 });
        seen.push(copy, JSON.stringify(r));
      },
      forward() {},
    });
    await simulate(model);
    expect(seen).toEqual([
      ...[2, { at: 0, by: 0, ok: false, how: 'slow' }, 0, 3],
      ...[
        { at: 0, by: -0 },
        { at: 0.5, by: -1 },
        { at: 1, by: -2 },
      ].map(({ at, by }) => ({ at, by: by + 0 })),
      { at: 0, by: 0, ok: false, how: 'slow' },
      { at: Math.fround(0.1), by: 255, ok: true, how: 'fast' },
      ...[{ at: 1.5, by: -3 }, { at: 7, by: -4 }, 2],
      ...[{ at: 1.5, by: -3 }, '[{"at":9,"by":9}]'],
    ]);
  });

  it.each([
    ['a.set(2, {})', 'm.a[2]: index outside 0..1'],
    ['a.get(-1)', 'm.a[-1]: index outside 0..1'],
    ['a.set(0, { by: 256 })', 'm.a.by: 256 does not fit in u8'],
    ['a.set(0, { ok: 1 })', 'm.a.ok: 1 does not fit in bool'],
    ['a.set(0, { att: 1 })', 'm.a.att: no such field; did you mean at?'],
    ['a.push({})', 'an array of records.push: no such field; there are'],
    ['r.shift()', 'm.r: the ring is empty'],
    [
      'r.push({ at: 1 }); r.push({ at: 1 }); r.push({ at: 1 })',
      'm.r: the ring is full (capacity 2)',
    ],
    ["r.push({ at: '1' })", 'm.r.at: "1" does not fit in f64'],
    ['r.push({})', 'm.r: the record lacks at'],
    ['r.push({ at: 1, by: 2 })', 'm.r.by: no such field; there are at'],
    ['r[0].at = 1', 'a ring of records.0: no such field'],
  ])('%s', async (code, message) => {
    const work = new Function('lp', `const { a, r } = lp.state; ${code}`) as () => void;
    expect(await refusal(work)).toContain(message);
  });

  it('have fields of 32 bits or doubles', () => {
    expect(() => ring({ big: 'u64' } as never, 2)).toThrow(
      'ring().big: a field of a record is one of i8',
    );
    expect(() => array({}, 2)).toThrow('array(): a record needs a field');
    expect(() => array({ 'a b': 'u8' }, 2)).toThrow('array().a b: a field');
  });
});

describe('words', () => {
  it('are texts for handlers, numbers in memory', async () => {
    const many = Array.from({ length: 300 }, (_, k) => `w${k}`);
    const seen: unknown[] = [];
    const model = defineModel({
      name: 'm',
      lps: () => 1,
      end: 10,
      state: { light: word(['red', 'green']), many: word(many) },
      message: { kind: word(['on', 'off']), light: word(['red', 'green']) },
      init({ state, ...lp }) {
        seen.push(state.light, state.many);
        state.many = 'w299';
        void lp;
      },
      forward() {},
    });
    await simulate(model);
    expect(seen).toEqual(['red', 'w0']);
    expect(() => word([])).toThrow('word(): needs from one to 65536 words');
    expect(() => word(['a', 'a'])).toThrow("word(): 'a' must be a text that occurs once");
  });

  it.each([
    ["state.light = 'gren'", 'm.light: "gren" is none of its words; did you mean green?'],
    ['state.light = 1', 'm.light: 1 is none of its words; there are red, green'],
    ["lp.send(0, 1).kind = 'offf'", 'message.kind: "offf" is none of its words; did you mean off?'],
  ])('%s', async (code, message) => {
    const model = defineModel({
      name: 'm',
      lps: () => 1,
      end: 10,
      state: { light: word(['red', 'green']) },
      message: { kind: word(['on', 'off']) },
      init: (lp) => void lp.send(0, 1),
      forward: new Function('lp', `const { state } = lp; ${code}`) as () => void,
    });
    await expect(simulate(model)).rejects.toThrow(message);
  });
});

describe('fields sized by options', () => {
  it('have the length that these options give, also in parts and messages', async () => {
    const model = defineModel({
      name: 'm',
      options: { n: int(3, 'a length', { min: 0 }) },
      lps: () => 1,
      end: 10,
      state: {
        a: array('u32', ({ n }) => n),
        r: ring('f64', ({ n }) => 2 * n),
        t: timers(({ n }) => n),
        l: line(({ n }) => n),
        d: resource({ places: ({ n }) => n + 1 }),
        s: store({ items: ({ n }) => n, places: 2 }),
      },
      message: { path: array('u8', ({ n }) => n) },
      init: (lp) => lp.send(0, 1).path.set(lp.params.n - 1, 7),
      forward({ state, params }, { path }) {
        state.a.fill(path.get(params.n - 1));
      },
      final({ state }, results) {
        const { a, r, t, l, d, s } = state;
        results.row('lengths', {
          ...{ a: a.length, r: r.capacity, t: t.length, l: l.places, last: a.get(a.length - 1) },
          ...{ d: d.line.places, items: s.items.places, customers: s.line.places },
        });
      },
    });
    const lengths = async (options?: { n: number }) =>
      (await simulate(model, options && { options })).results.rows.lengths[0].values;
    const of = (n: number) => ({
      ...{ a: n, r: 2 * n, t: n, l: n, last: 7, d: n + 1, items: n, customers: 2 },
    });
    expect(await lengths()).toEqual(of(3));
    expect(await lengths({ n: 41 })).toEqual(of(41));
    expect(await lengths()).toEqual(of(3));
    await expect(simulate(model, { options: { n: 0 } })).rejects.toThrow(
      "model 'm': message.path: array('u8', 0): the length must be a positive integer",
    );
  });

  it('go on from a checkpoint of these options', async () => {
    const file = join(folder, 'parcels.ckpt');
    const settings: Settings = { end: 24, options: { depots: 5, shops: 8, places: 9 } };
    const whole = await simulate(parcels, settings, { checkpoint: { file, at: [12] } });
    const rest = await simulate(parcels, { pes: 2 }, { restart: file });
    expect([rest.netEvents, rest.eventDigest, rest.stateDigest, rest.results]).toEqual([
      ...[whole.netEvents, whole.eventDigest, whole.stateDigest, whole.results],
    ]);
  });
});

describe('tables', () => {
  it('are made once, and all PEs read the same memory', async () => {
    const path = join(folder, 'tables.ts');
    // Of one copy each LP would see what the others write; a model must not, and here it shows that it is one.
    writeFileSync(
      path,
      `import { defineModel, int } from 'triscope/sim';
export default defineModel({
  name: 'tables',
  options: { n: int(5, 'size') },
  lps: () => 6, end: 10, lookahead: 1,
  tables: {
    once: () => Float64Array.of(Math.random()),
    drawn: ({ n }, { random, lps }) => Float64Array.from({ length: n + lps }, () => random.uniform()),
    seen: () => new Int32Array(1),
  },
  prepare: (_options, { tables, random }) => ({ ...tables, own: random.uniform() }),
  state: {}, message: {},
  init: (lp) => void lp.send(lp.id, 1 + lp.id),
  forward: (lp) => { (lp.params.seen as unknown as Int32Array)[0] += 1; },
  final(lp, results) {
    const { once, drawn, seen, own } = lp.params;
    results.row('of', { once: once[0], length: drawn.length, last: drawn[drawn.length - 1], own, seen: seen[0] });
  },
});`,
    );
    const loaded = await loadModel(path);
    const rowsOf = async (settings: Settings) => {
      const { results } = await simulate(loaded, settings);
      return results.rows.of.map(({ values }) => values);
    };
    const [first] = await rowsOf({});
    expect(first.length).toBe(11);
    for (const pes of [2, 3]) {
      const rows = await rowsOf({ pes, synch: 'conservative' });
      expect(new Set(rows.map(({ once }) => once)).size).toBe(1);
      expect(rows.map(({ last, own }) => [last, own])).toEqual(
        rows.map(() => [first.last, first.own]),
      );
      expect(Math.max(...rows.map(({ seen }) => seen))).toBe(6);
    }
    const [other] = await rowsOf({ seeds: [1, 2, 3, 4] });
    expect(other.last).not.toBe(first.last);
    expect(other.own).not.toBe(first.own);
    const written: (readonly string[])[] = [];
    await verify(loaded, { end: 3 }, { onWritten: (names) => written.push(names) });
    expect(written).toEqual([['tables.seen']]);
    loaded.dispose();
  });
});

describe('functions that give the same bits everywhere', () => {
  it('are those of the package', async () => {
    const seen: number[] = [];
    const model = defineModel({
      name: 'm',
      lps: () => 1,
      state: {},
      message: {},
      init: (lp) => void seen.push(lp.sin(1.5), lp.cos(1.5), lp.sqrt(2)),
      forward() {},
    });
    await simulate(model);
    expect(seen).toEqual([sin(1.5), cos(1.5), Math.SQRT2]);
    expect(seen[0]).toBeCloseTo(Math.sin(1.5), 15);
  });
});

/** Events go from sources to sinks after 5, among sources after 1. */
const layered = (toSink: number, toSource: number) =>
  `import { defineModel } from 'triscope/sim';
export default defineModel({
  name: 'layered', lps: () => 40, end: 100, message: { back: 'bool' },
  typeOf: (lp) => (lp < 20 ? 'source' : 'sink'),
  types: {
    source: {
      lookahead: 1, state: { n: 'u32' },
      init: (lp) => void lp.send(lp.id, lp.exponential(1)),
      forward(lp, { back }) {
        lp.state.n++;
        if (back) return;
        lp.send(lp.integer(20, 39), ${toSink} + lp.exponential(1));
        lp.send(lp.integer(0, 19), ${toSource} + lp.exponential(1)).back = true;
        lp.send(lp.id, lp.exponential(1));
      },
    },
    sink: {
      lookahead: 5, state: { n: 'u32' },
      init() {},
      forward(lp) {
        lp.state.n++;
        if (lp.state.n % 3 === 0) lp.send(lp.integer(0, 19), 1).back = true;
      },
    },
  },
});`;

describe('lookaheads of types', () => {
  it('let a PE go as far ahead as its LPs allow', async () => {
    const path = join(folder, 'layered.ts');
    writeFileSync(path, layered(5, 1));
    const loaded = await loadModel(path);
    const truth = await told(loaded, {});
    for (const way of [
      { synch: 'conservative', pes: 2 },
      { synch: 'conservative', pes: 3 },
      { synch: 'optimistic', pes: 2 },
      { synch: 'optimistic', pes: 3, batch: 4, gvtInterval: 2 },
    ] as const)
      expect([way, await told(loaded, way)]).toEqual([way, truth]);
    const rows = await verify(loaded, { end: 10 }, { chaos: { first: 1, runs: 4 } });
    expect(rows.filter(({ same }) => !same)).toEqual([]);
    loaded.dispose();
  });

  it.each([
    [4.5, 1, 'sink', 5],
    [5, 0.5, 'source', 1],
  ])('refuse what is sooner: %d and %d', async (toSink, toSource, type, least) => {
    const path = join(folder, `sooner-${type}.ts`);
    // Without the random part the first event shows it.
    writeFileSync(path, layered(toSink, toSource).replaceAll(' + lp.exponential(1))', ')'));
    const own = type === 'source' ? `--lookahead=${least}` : `the lookahead of '${type}', ${least}`;
    for (const synch of ['conservative', 'optimistic'] as const)
      await expect(simulate(path, { pes: 2, synch })).rejects.toThrow(
        `lookahead violation: the delay is less than ${own}; lengthen it, or lower that`,
      );
    expect((await simulate(path)).finished).toBe(true);
  });
});
