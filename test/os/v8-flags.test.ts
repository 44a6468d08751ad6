/** V8's settings, of which each version of V8 knows its own. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { USUAL, usualValue } from '../../src/os/v8-flags.ts';

const V8_FLAGS = Object.keys(USUAL) as (keyof typeof USUAL)[];

const knowsFlag = (v8: string, flag: (typeof V8_FLAGS)[number]) =>
  usualValue(v8, flag) !== undefined;

it('sets what this V8 lists, and nothing else', () => {
  const listed = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const names = new Set(Array.from(listed.matchAll(/^ +--([a-z0-9-]+) /gm), ([, name]) => name));
  expect(names.size).toBeGreaterThan(500);
  expect(V8_FLAGS.map((flag) => [flag, knowsFlag(process.versions.v8, flag)])).toEqual(
    V8_FLAGS.map((flag) => [flag, names.has(flag)]),
  );
});

it('gives back what a process begins with', () => {
  const flags = V8_FLAGS.map((flag) => [flag, usualValue(process.versions.v8, flag)])
    .filter(([, usual]) => usual !== undefined)
    .map(([flag, usual]) => `--${flag}=${usual}`);
  const text = `const { cachedDataVersionTag: tag, setFlagsFromString: set } = require('node:v8');
    const before = tag();
    const after = ${JSON.stringify(flags)}.map((flag) => (set(flag), tag() === before));
    process.stdout.write(JSON.stringify(after));`;
  const out = execFileSync(process.execPath, ['-e', text], { encoding: 'utf8' });
  expect(JSON.parse(out)).toEqual(flags.map(() => true));
});

it('flags come back where compiled code is kept, and not at any other end: V8 may be optimising then', () => {
  const module = new URL('../../dist/os/v8-flags.js', import.meta.url).href;
  const run = (keeps: boolean) => {
    const text = `const { cachedDataVersionTag: tag } = await import('node:v8');
      const { setV8Flag } = await import(${JSON.stringify(module)});
      const before = tag();
      setV8Flag('max-inlined-bytecode-size', 2000);
      process.on('exit', () => {
        if (${keeps}) process.emit('triscope:keeps');
        process.stdout.write(String(tag() === before));
      });`;
    const args = ['--input-type=module', '-e', text];
    return execFileSync(process.execPath, args, { encoding: 'utf8' });
  };
  expect([run(true), run(false)]).toEqual(['true', 'false']);
});

it.each([
  ['11.3.244.8-node.38', ['interrupt-budget']],
  ['11.8.172.17-node.20', []],
  ['12.4.254.21-node.57', ['invocation-count-for-turbofan']],
  ['14.6.202.34-node.34', ['invocation-count-for-turbofan']],
])('in V8 %s, makes functions hot early by %o', (v8, flags) => {
  expect(V8_FLAGS.filter((flag) => knowsFlag(v8, flag))).toEqual([
    'max-inlined-bytecode-size',
    'max-inlined-bytecode-size-cumulative',
    ...flags,
  ]);
});
