/** What a modeller gets wrong, each told in one line with the place in the model's own source. */
import '../support/small-machine.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  loadModel,
  ModelError,
  OptionError,
  type Settings,
  simulate,
  TriscopeError,
  verify,
} from 'triscope/sim';
import { afterAll, describe, expect, it } from 'vitest';

// A blank, and letters that are not ASCII.
const folder = mkdtempSync(join(tmpdir(), 'wrong models größer 5% '));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
function file(text: string, end = '.ts'): string {
  const path = join(folder, `model-${made++}${end}`);
  writeFileSync(path, text);
  return path;
}

/** A right model; each case replaces one of its lines. Line 14 is `forward`'s body, 10 `init`'s. */
const LINES = `import { array, defineModel, ring } from 'triscope/sim';
export default defineModel({
  name: 'shop',
  options: { servers: { kind: 'int', default: 2, help: 'servers' } },
  lps: () => 4,
  end: 20,
  message: { hops: 'u32' },
  state: { served: 'u32', load: 'f64', open: 'bool', bins: array('u32', 3), line: ring('f64', 4), big: 'u64' },
  init(lp) {
    lp.send(lp.id, lp.exponential(1));
  },
  forward(lp, message) {
    lp.state.served++;
    lp.send((lp.id + 1) % lp.lps, lp.exponential(1)).hops = message.hops + 1;
  },
  final(lp, results) {
    results.add('served', lp.state.served);
  },
});
`.split('\n');

/** The model with other text on one line, counted from 1. */
const withLine = (line: number, text: string) =>
  LINES.map((old, k) => (k === line - 1 ? text : old)).join('\n');

const failure = async (path: string, settings: Settings = {}): Promise<string> => {
  try {
    await simulate(path, settings);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it ran';
};

/** Line, its text, the message; and the column of the place, where the line is to blame. */
const HANDLERS: readonly [mistake: string, line: number, text: string, message: string][] = [
  [
    'a misspelt field, counted up',
    13,
    '    lp.state.servd++;',
    'shop.servd: no such field; did you mean served?',
  ],
  [
    'a misspelt field, read',
    13,
    '    if (lp.state.laod > 3) lp.state.served++;',
    'shop.laod: no such field; did you mean load?',
  ],
  [
    'a misspelt field, written',
    13,
    '    lp.state.lod = 1;',
    'shop.lod: no such field; did you mean load?',
  ],
  [
    'a field that there is not',
    13,
    '    lp.state.customers = 1;',
    'shop.customers: no such field; there are served, load, open, bins, line, big',
  ],
  [
    'a misspelt field of a message',
    14,
    '    lp.send(0, 1).hop = 1;',
    'message.hop: no such field; did you mean hops?',
  ],
  [
    'a misspelt field of the received message',
    13,
    '    lp.state.served += message.hosp;',
    'message.hosp: no such field; did you mean hops?',
  ],
  [
    'an element of an array, written by index',
    13,
    '    lp.state.bins[1] = 2;',
    'shop.bins[1]: elements are not written by index; use shop.bins.set(1, value)',
  ],
  [
    'an element of an array, read by index',
    13,
    '    lp.state.load = lp.state.bins[1];',
    'shop.bins[1]: elements are not read by index; use shop.bins.get(1)',
  ],
  [
    'an array, assigned to',
    13,
    '    lp.state.bins = [1, 2, 3];',
    'shop.bins: cannot be assigned to; use set(index, value) or fill(value)',
  ],
  [
    'a ring, assigned to',
    13,
    '    lp.state.line = [];',
    'shop.line: cannot be assigned to; use push(value), shift() or clear()',
  ],
  [
    'a method that arrays do not have',
    13,
    '    lp.state.bins.push(1);',
    'shop.bins.push: no such field; there are length, get, set, fill',
  ],
  ['text in a number', 13, "    lp.state.load = '1';", 'shop.load: "1" does not fit in f64'],
  [
    'undefined in a number',
    13,
    '    lp.state.load = undefined;',
    'shop.load: undefined does not fit in f64',
  ],
  [
    'null in an integer',
    13,
    '    lp.state.served = null;',
    'shop.served: null does not fit in u32',
  ],
  [
    'a fraction in an integer',
    13,
    '    lp.state.served = 0.5;',
    'shop.served: 0.5 does not fit in u32',
  ],
  ['a number in a truth value', 13, '    lp.state.open = 1;', 'shop.open: 1 does not fit in bool'],
  [
    'the received message, written',
    13,
    '    message.hops = 3;',
    'message.hops: read-only here; a received message may be written only by a model with reverse()',
  ],
  ['a delay that is text', 14, "    lp.send(0, '1');", 'send(0, "1"): the delay is not a number'],
  [
    'a delay of undefined',
    14,
    '    lp.send(0, undefined);',
    'send(0, undefined): the delay is not a number',
  ],
  ['a delay that is NaN', 14, '    lp.send(0, 0 / 0);', 'send(0, NaN): the delay is not a number'],
  [
    'a negative delay',
    14,
    '    lp.send(0, -1);',
    'send(0, -1): a negative delay would send an event into the past',
  ],
  [
    'a priority that is text',
    14,
    "    lp.send(0, 1, 'high');",
    'send(): the priority "high" is not a number',
  ],
  [
    'a priority of null',
    14,
    '    lp.send(0, 1, null);',
    'send(): the priority null is not a number',
  ],
  ['an LP that is not there', 14, '    lp.send(4, 1);', 'send(4, 1): no such LP; ids are 0…3'],
  ['an LP by name', 14, "    lp.send('0', 1);", 'send("0", 1): no such LP; ids are 0…3'],
  [
    'random numbers of its own',
    13,
    '    if (Math.random() < 0.5) lp.state.served++;',
    'Math.random(): differs from run to run, and when an event is handled again; draw with lp.uniform()',
  ],
  [
    'a clock',
    13,
    '    lp.state.load = Date.now();',
    'Date.now(): differs from run to run, and when an event is handled again; virtual time is lp.now',
  ],
  [
    'a date',
    13,
    '    lp.state.load = new Date().getHours();',
    'new Date(): differs from run to run, and when an event is handled again; virtual time is lp.now',
  ],
  [
    'a stopwatch',
    13,
    '    lp.state.load = performance.now();',
    'performance.now(): differs from run to run, and when an event is handled again; virtual time is lp.now',
  ],
  [
    'a timer',
    13,
    '    setTimeout(() => {}, 1);',
    'setTimeout(): acts after its event is over; send an event to the LP itself (lp.send(lp.id, delay))',
  ],
  [
    'a promise',
    14,
    '    return { then() {} };',
    'the handler returned a promise: code that runs later would be outside of its event; a handler must be done when it returns',
  ],
  ['an exception of its own', 13, "    throw new Error('no such thing');", 'no such thing'],
  [
    'a misspelt name of lp',
    13,
    '    if (lp.nwo > 3) lp.state.served++;',
    'lp.nwo: no such name; did you mean now?',
  ],
  [
    'a misspelt function of lp',
    13,
    '    lp.sned(0, 1);',
    'lp.sned: no such name; did you mean send?',
  ],
  ['something kept in lp', 13, '    lp.count = 1;', 'lp.count: no such name'],
  [
    'a state that is replaced',
    13,
    '    lp.state = { served: 1 };',
    "Cannot assign to read only property 'state'",
  ],
  ['the LP’s number, written', 13, '    lp.id = 3;', 'Cannot set property id'],
  [
    'a misspelt option',
    13,
    '    if (lp.params.servres > 1) lp.state.served++;',
    'options.servres: no such name; did you mean servers?',
  ],
  [
    'an option that is written',
    13,
    '    lp.params.servers = 3;',
    "Cannot assign to read only property 'servers'",
  ],
  [
    'a misspelt name of the event',
    13,
    '    lp.event.bts = 1;',
    'lp.event.bts: no such name; did you mean bits?',
  ],
  ['a delay that is an object', 14, '    lp.send(0, { hops: 3 }, 1);', 'the delay is not a number'],
  ['a delay of null', 14, '    lp.send(0, null);', 'send(0, null): the delay is not a number'],
  ['no arguments', 14, '    lp.send();', 'send(undefined, undefined): the delay is not a number'],
  ['an LP between two', 14, '    lp.send(0.5, 1);', 'send(0.5, 1): no such LP; ids are 0…3'],
  [
    'an element outside of an array',
    13,
    '    lp.state.bins.set(3, 1);',
    'shop.bins[3]: index outside 0..2',
  ],
  ['text in an array', 13, "    lp.state.bins.set(0, '1');", 'shop.bins: "1" does not fit in u32'],
  [
    'a ring that is full',
    13,
    '    for (let k = 0; k < 9; k++) lp.state.line.push(k);',
    'shop.line: the ring is full (capacity 4)',
  ],
  ['a ring that is empty', 13, '    lp.state.line.shift();', 'shop.line: the ring is empty'],
  ['a number in a bigint', 13, '    lp.state.big = 1;', 'shop.big: 1 does not fit in u64'],
  ['a negative count', 13, '    lp.state.served = -1;', 'shop.served: -1 does not fit in u32'],
  [
    'a mean that is not there',
    13,
    '    lp.exponential();',
    'an exponential mean must not be negative, got undefined',
  ],
  [
    'bounds the wrong way round',
    13,
    '    lp.integer(5, 1);',
    'a random integer needs integer bounds lo <= hi, got 5 and 1',
  ],
  ['a line that is no text', 13, '    lp.output({});', 'output([object Object]): a line is a text'],
  ['a stop in the past', 13, '    lp.stop(-1);', 'stop(-1): the delay must be a number from 0 on'],
  [
    'a promise that is not returned',
    13,
    '    Promise.resolve().then(() => lp.send(0, 1));',
    'a promise: acts after its event is over',
  ],
  [
    'a request to a server',
    13,
    "    fetch('http://localhost');",
    'fetch(): acts after its event is over',
  ],
  [
    'the end of all',
    13,
    '    process.exit(3);',
    'process.exit(): ends all that runs here, without results',
  ],
  [
    'a clock in nanoseconds',
    13,
    '    process.hrtime.bigint();',
    'process.hrtime.bigint(): differs from run to run',
  ],
  [
    'random numbers, the long way',
    13,
    '    globalThis.Math.random();',
    'Math.random(): differs from run to run',
  ],
  [
    'a recursion without end',
    13,
    '    const again = (): void => again(); again();',
    'Maximum call stack size exceeded',
  ],
];

describe('a mistake in a handler', () => {
  it.each(HANDLERS)('%s', async (_mistake, line, text, message) => {
    const path = file(withLine(line, text));
    const told = await failure(path);
    expect(told).toContain(message);
    expect(told).toMatch(/^LP \d \(shop\) at virtual time [\d.]+, message \{"hops":\d+\}: /);
    // A promise is known when its handler has returned.
    if (!text.includes('return {'))
      expect(told).toMatch(new RegExp(`\\(at ${path}:${line}:\\d+\\)$`));
    expect(told).not.toContain('\n');
  });

  it.each(HANDLERS.filter((_row, k) => k % 7 === 0))(
    '%s, on two PEs',
    async (_mistake, line, text, message) => {
      const path = file(withLine(line, text));
      const told = await failure(path, { pes: 2, synch: 'optimistic' });
      expect(told).toContain(message);
      expect(told).toContain(`(at ${path}:${line}:`);
    },
  );

  it('is placed to the column', async () => {
    const told = await failure(file(withLine(13, '    const one = 1; lp.state.servd += one;')));
    expect(told).toMatch(/:13:2[0-9]\)$/);
  });
});

const SETTLED: readonly [mistake: string, line: number, text: string, message: string][] = [
  [
    'text in a result',
    17,
    "    results.add('served', '3');",
    'results.add(\'served\'): "3" is not a number',
  ],
  [
    'NaN in a result',
    17,
    "    results.add('served', 0 / 0);",
    "results.add('served'): NaN is not a number",
  ],
  [
    'undefined in a largest value',
    17,
    "    results.max('served', undefined);",
    "results.max('served'): undefined is not a number",
  ],
  [
    'a bin that is none',
    17,
    "    results.count('served', -1);",
    "count('served', -1): bins are integers from 0",
  ],
  [
    'an infinite result',
    17,
    "    results.add('served', 1 / 0);",
    "results.add('served'): Infinity is no finite number",
  ],
  [
    'a misspelt result',
    17,
    "    results.ad('served', 1);",
    'results.ad: no such name; did you mean add?',
  ],
  [
    'a result without a name',
    17,
    '    results.add(lp.state.served);',
    'results.add(21, …): the first is the result’s name, a text',
  ],
  [
    'a send',
    17,
    '    lp.send(0, 1);',
    'lp.send(): commit(), final(), hooks and instruments only read',
  ],
  [
    'a row of nothing',
    17,
    "    results.row('shops', 3);",
    "results.row('shops', 3): the second is an object",
  ],
  [
    'text in a row',
    17,
    "    results.row('shops', { served: 'many' });",
    'results.row(\'shops: served\'): "many" is not a number',
  ],
  [
    'a state that is written',
    17,
    '    lp.state.served = 0;',
    'shop.served: read-only here; commit(), final(), hooks and instruments only read',
  ],
  [
    'an array that is filled',
    17,
    '    lp.state.bins.fill(0);',
    'shop.bins: read-only here; commit(), final(), hooks and instruments only read',
  ],
];

describe('a mistake in final()', () => {
  it.each(SETTLED)('%s', async (_mistake, line, text, message) => {
    const path = file(withLine(line, text));
    const told = await failure(path);
    expect(told).toContain(`LP 0 (shop), final(): ${message}`);
    expect(told).toContain(`(at ${path}:${line}:`);
  });
});

const DECLARED: readonly [mistake: string, line: number, text: string, message: string][] = [
  [
    'a handler that is async',
    12,
    '  async forward(lp, message) {',
    "model 'shop': forward() is async",
  ],
  ['a generator', 12, '  *forward(lp, message) {', "model 'shop': forward() is a generator"],
  ['an async init', 9, '  async init(lp) {', "model 'shop': init() is async"],
  ['an async final', 16, '  async final(lp, results) {', "model 'shop': final() is async"],
  [
    'a misspelt handler',
    16,
    '  finall(lp, results) {',
    "model 'shop': 'finall' is not part of a model; did you mean final?",
  ],
  [
    'a misspelt part',
    6,
    '  endd: 20,',
    "model 'shop': 'endd' is not part of a model; did you mean end?",
  ],
  [
    'an end that is text',
    6,
    "  end: '20',",
    'model \'shop\': end is "20": must be a finite number of at least 0',
  ],
  [
    'a lookahead below 0',
    6,
    '  end: 20, lookahead: -1,',
    'lookahead is -1: must be a finite number',
  ],
  [
    'an option that is a number',
    4,
    '  options: { servers: 2 },',
    'options.servers must be what int()',
  ],
  [
    'a misspelt word of an option',
    4,
    "  options: { servers: { kind: 'int', defualt: 2, help: 'servers' } },",
    'options.servers.defualt: no such name; did you mean default?',
  ],
  ['an unknown placement', 6, "  end: 20, map: 'lineer',", 'map is "lineer"; it is \'linear\''],
  ['a placement on no PE', 6, '  end: 20, map: { pe: () => 7 },', 'map.pe(0) gave 7; PEs are 0…0'],
  [
    'a hook that does not run',
    6,
    '  end: 20, gvtHook: { at: 3, runn() {} },',
    'gvtHook.runn: no such name; did you mean run?',
  ],
  [
    'a misspelt instrument',
    6,
    '  end: 20, instrument: { smaple: 3 },',
    'instrument.smaple: no such name; did you mean sample?',
  ],
  [
    'an exception in prepare()',
    6,
    "  end: 20, prepare() { throw new Error('no'); },",
    "model 'shop', prepare(): no",
  ],
  [
    'an exception in a table',
    6,
    "  end: 20, tables: { next() { throw new Error('no'); } },",
    "model 'shop', tables.next(): no",
  ],
  [
    'an exception in a placement',
    6,
    "  end: 20, map: { pe() { throw new Error('no'); } },",
    "model 'shop', map.pe(): no",
  ],
  [
    'a misspelt option in a table',
    6,
    '  end: 20, tables: { next: (options) => new Float64Array(options.servres) },',
    'options.servres: no such name; did you mean servers?',
  ],
  [
    'a misspelt option in lps()',
    5,
    '  lps: (options) => options.servres,',
    'options.servres: no such name; did you mean servers?',
  ],
  [
    'a part of no model',
    6,
    '  colour: 20,',
    "model 'shop': 'colour' is not part of a model; parts are name, help",
  ],
  ['a handler that is none', 16, '  final: 3, finall(lp, results) {', "'finall' is not part"],
  ['no forward', 12, '  reverse(lp, message) {', "model 'shop' needs forward()"],
  [
    'an unknown type of field',
    7,
    "  message: { hops: 'u33' },",
    'message.hops: unknown field type "u33"',
  ],
  [
    'no LPs',
    5,
    '  lps: () => 0,',
    "model 'shop': lps() gave 0; the number of LPs must be a positive integer",
  ],
];

describe('a mistake in the declaration', () => {
  it.each(DECLARED)('%s', async (_mistake, line, text, message) => {
    const path = file(withLine(line, text));
    const told = await failure(path);
    expect(told).toContain(message);
    const where = told.slice(told.lastIndexOf(' (at '));
    expect(where).toMatch(/^ \(at .*:\d+:\d+\)$/);
    expect(where).toContain(`${path}:${text.includes('reverse') ? 3 : line}:`);
    expect(told).not.toContain('\n');
  });

  it.each([
    [
      'no model',
      LINES.join('\n').replace('export default', 'export const shop ='),
      'contains no model',
    ],
    ['a missing import', LINES.slice(1).join('\n'), 'defineModel is not defined'],
    [
      'a file that is not there',
      `import './nothing.ts';\n${LINES.join('\n')}`,
      ':1:8: Could not resolve',
    ],
    [
      'a package that is not there',
      withLine(1, LINES[0].replace('/sim', '/simm')),
      ':1:42: Could not resolve',
    ],
  ])('%s', async (_mistake, text, message) => {
    const told = await failure(file(text));
    expect(told).toContain(message);
    expect(told).not.toContain('wrong-models.test');
  });

  it('that does not compile is placed', async () => {
    const path = file(withLine(13, '    lp.state.served+++;'));
    expect(await failure(path)).toMatch(new RegExp(`${path.slice(-8)}:13:\\d+: `));
  });

  it('that throws when it is loaded is placed', async () => {
    const path = file(
      `const shops: number[] | undefined = undefined;\nshops!.push(1);\n${LINES.join('\n')}`,
    );
    expect(await failure(path)).toContain(`(at ${path}:2:`);
  });
});

describe('a mistake in the settings', () => {
  const shop = file(LINES.join('\n'));
  it.each([
    [{ endd: 20 }, 'endd: no such setting; did you mean end?'],
    [{ lookAhead: 1 }, 'lookAhead: no such setting; did you mean lookahead?'],
    [{ options: { server: 3 } }, "model 'shop' has no option --server; did you mean --servers?"],
    [{ options: { servers: '3' } }, '--servers=3: must be a number'],
  ] as unknown as readonly [Settings, string][])('%j', async (settings, message) => {
    expect(await failure(shop, settings)).toContain(message);
  });
});

describe('an error', () => {
  it.each([1, 2])('of a handler has its cause and stack, on %d PEs', async (pes) => {
    const path = file(withLine(13, "    throw new RangeError('too late');"));
    const error = await simulate(pathToFileURL(path), { pes, synch: 'optimistic' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TriscopeError);
    expect(error).toBeInstanceOf(ModelError);
    const { cause, message } = error as Error;
    expect(message).toContain(`: too late (at ${path}:13:`);
    expect((cause as Error).name).toBe('RangeError');
    expect((cause as Error).stack).toMatch(/^RangeError: too late\n.*model\.mjs/);
  });

  it('of a setting has the same base', async () => {
    const error = await simulate('phold', { end: -1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OptionError);
    expect(error).toBeInstanceOf(TriscopeError);
    expect(await failure('https://example.org/shop.ts')).toContain("no model 'https:");
  });
});

describe('a model’s own files', () => {
  it('are found beside it, each from its own folder', async () => {
    mkdirSync(join(folder, 'parts'), { recursive: true });
    writeFileSync(join(folder, 'parts', 'delay.txt'), '2');
    writeFileSync(
      join(folder, 'parts', 'delay.ts'),
      "import { readFileSync } from 'node:fs';\nexport const delay = Number(readFileSync(new URL('delay.txt', import.meta.url), 'utf8'));\n",
    );
    const path = file(
      `import { delay } from './parts/delay.ts';\n${withLine(14, '    lp.send(lp.id, delay).hops = import.meta.url.length;')}`,
    );
    const run = await simulate(path, { end: 7 });
    // Each LP's first event comes at random; 2 apart from there, to the end.
    expect(run.finished).toBe(true);
    expect(run.netEvents).toBeGreaterThanOrEqual(4);
  });

  it('may be CommonJS, and require', async () => {
    const path = file(
      `const { defineModel } = require('triscope/sim');\nconst { sep } = require('node:path');\n${LINES.slice(
        1,
      )
        .join('\n')
        .replace('export default', 'module.exports =')
        .replace(/, bins: array.*$/m, ' },')
        .replace("name: 'shop'", "name: 'shop' + sep.length + __filename.slice(-4)")
        .replace('  end:', '  help: __dirname,\n  end:')}`,
      '.cjs',
    );
    const run = await simulate(path, { end: 5 });
    expect(run.model).toBe('shop1.cjs');
    const loaded = await loadModel(path);
    expect(loaded.model.help).toBe(dirname(path));
    loaded.dispose();
  });

  it('may ask the clock while no handler runs', async () => {
    const run = await simulate(
      file(
        `const started = Date.now() + Math.random();\n${withLine(6, '  end: started > 0 ? 5 : 0,')}`,
      ),
    );
    expect(run.finished).toBe(true);
  });
});

describe('a message that may no longer be filled', () => {
  const KEPT: readonly [mistake: string, text: string][] = [
    [
      'a message filled after the next send',
      '    const one = lp.send(0, 1); lp.send(1, 1).hops = 2; one.hops = 1;',
    ],
    [
      'an array of a message filled after the next send',
      '    const one = lp.send(0, 1); lp.send(1, 1); one.path.set(0, 1);',
    ],
    [
      'a ring of a message filled after the next send',
      '    const one = lp.send(0, 1); lp.send(1, 1); one.words.push(1);',
    ],
    [
      'a message read after the next send',
      '    const one = lp.send(0, 1); lp.send(1, 1); lp.state.served = one.hops;',
    ],
    [
      'a message filled after its event',
      '    kept.hops = 3; kept = lp.send(lp.id, 1); let other; other = kept;',
    ],
  ];
  const RUNS: readonly Settings[] = [
    {},
    { synch: 'conservative', pes: 2, lookahead: 0.5 },
    { synch: 'optimistic', pes: 2 },
    { synch: 'rollback-check' },
  ];
  it.each(KEPT)('%s, is told in every run', async (_mistake, text) => {
    const before = withLine(14, text).replace(
      'hops:',
      "path: array('u8', 2), words: ring('u8', 2), hops:",
    );
    const path = file(before.replace('\n', ' let kept = { hops: 0 };\n'));
    for (const settings of RUNS) {
      const told = await failure(path, settings);
      expect(told).toMatch(
        /: message\.\w+: (read-only|no longer) here; it was (filled|read) after the next send/,
      );
      expect(told).toContain(`(at ${path}:14:`);
    }
  });

  it.each([1, 2, 9, 40])(
    'but rollback-check alone finds all after many more sends: %d',
    async (sends) => {
      const text = `    const one = lp.send(0, 1); for (let k = 0; k < ${sends}; k++) lp.send(1, 1); one.hops = 1;`;
      const path = file(withLine(14, text));
      expect(await failure(path, { synch: 'rollback-check' })).toContain(
        'message.hops: read-only here',
      );
      if (sends < 8) expect(await failure(path)).toContain('message.hops: read-only here');
    },
  );
});

describe('a mistake that only shows when an event is handled twice', () => {
  it('results and lines from a variable of the module: sim verify names it', async () => {
    const path = file(
      `const CONSTANT = [1, 2]; let cached = 0; const delays = new Map<number, number[]>();\n${withLine(14, '    lp.send(0, 1); cached = CONSTANT[1]; delays.set(lp.id, [...(delays.get(lp.id) ?? []), lp.now]);').replace("results.add('served', lp.state.served)", "results.add('delays', delays.get(lp.id)?.length ?? 0)").replace('() => 4', '() => 1')}`,
    );
    const loaded = await loadModel(path);
    let written: readonly string[] = [];
    const rows = await verify(
      loaded,
      { end: 4 },
      {
        onWritten: (names) => {
          written = names;
        },
      },
    );
    loaded.dispose();
    expect(written).toEqual([
      expect.stringMatching(/^cached \(.*:1:30\)$/),
      expect.stringMatching(/^delays \(.*:1:48\)$/),
    ]);
    const twice = rows.find((row) => row.name === 'rollback-check');
    expect(twice?.same).toBe(false);
    expect(twice?.eventDigest).toBe(rows[0].eventDigest);
    expect(twice?.difference).toMatch(
      /^same events and states; results totals.delays is (\d+) in sequential and \d+ in rollback-check: it depends on more/,
    );
  });
});
