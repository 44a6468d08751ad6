/** What a modeller gets wrong in a declaration, in final() and in settings, told in one line with its place. */
import '../support/small-machine.ts';
import type { Settings } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { failure, file, LINES, withLine } from './support/wrong-model.ts';

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
    expect(told).not.toContain('wrong-declarations.test');
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
