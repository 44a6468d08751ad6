/** What a modeller gets wrong in a handler, told in one line with the place in the model’s own source. */
import '../support/small-machine.ts';
import type { Settings } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { failure, file, withLine } from './support/wrong-model.ts';

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
