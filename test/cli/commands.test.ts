/** The other commands, and what is true of all. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT_IN } from 'triscope/sim';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { ProgressLine } from '../../src/cli/progress.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test('--version', async () => {
  const { out } = await triscope(['--version']);
  expect(out.trim()).toBe(JSON.parse(readFileSync(root('package.json'), 'utf8')).version);
});

test('--help lists every command', async () => {
  const { code, out } = await triscopeHere(['--help']);
  expect(code).toBe(0);
  for (const { name } of COMMANDS) {
    expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  }
});

test('sim models, as text and as JSON', async () => {
  const text = await triscopeHere(['sim', 'models']);
  const json = await triscopeHere(['sim', 'models', '--json']);
  const names = Object.keys(BUILT_IN);
  for (const name of names) expect(text.out).toMatch(new RegExp(`^${name}: `, 'm'));
  expect(text.out).toMatch(/--remote=X [^-]*\(default:\s+0\.25\)/);
  const models = JSON.parse(json.out) as { name: string; options: Record<string, unknown> }[];
  expect(models.map((m) => m.name)).toEqual(names);
  expect(models[0].options).toMatchObject({ remote: { kind: 'float', default: 0.25, max: 1 } });
});

test('demo proves that the optimistic result is the sequential one', async () => {
  const { code, out, err } = await triscope(['demo']);
  expect(code).toBe(0);
  expect(err).toBe('');
  expect(out).toContain('The parallel result is the same as the sequential one');
  const [, optimistic, sequential] = /states {2}(\w{16}) {2}(\w{16})/.exec(out) ?? [];
  expect(optimistic).toBe(sequential);
  expect(out).not.toContain('\x1b');
  expect(out).toContain('24 frames of the cells');
  expect(out).toMatch(
    /B is demo-one\.tri, on one\.\n {3}B (is \S+ m?s (slower|faster) than A .*: .* in |and A took equally long: )/,
  );
  const isThere = ['cc', 'python3'].some((word) => spawnSync(word, ['--version']).status === 0);
  if (!isThere) return;
  expect(out).toMatch(/ arithmetic +20 +\d+\.\d{3}\n/);
  expect(out).toMatch(/demo-program\.tri: .*; next: triscope report demo-program\.tri\n/);
}, 300_000);

test('a checkout that is not built says what to run', () => {
  const folder = temporaryFolder();
  cpSync(root('bin'), join(folder, 'bin'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin', 'triscope')]);
  expect(status).toBe(1);
  expect(String(stderr)).toBe('triscope: not built yet; run `npm run build` in its folder first\n');
});

describe('the progress line', () => {
  const line = (isTTY: boolean, asked = false) => {
    const written: string[] = [];
    let now = 0;
    const stream = { isTTY, columns: 60, write: (text: string) => written.push(text) };
    const progress = new ProgressLine(0.01, asked, stream, () => now);
    const at = (milliseconds: number, gvt: number) => {
      now = milliseconds;
      const committed = gvt * 1000;
      progress.update({ gvt, end: 1000, committed, rolledBack: 0, seconds: milliseconds / 1000 });
    };
    return { written, progress, at };
  };

  test('is rewritten in place and fits the terminal', () => {
    const { written, progress, at } = line(true);
    at(1000, 100);
    progress.clear();
    expect(written).toEqual([
      '\r\x1b[KGVT 100  10 %  100 k events/s  efficiency 100 %',
      '\r\x1b[K',
    ]);
    expect(written[0].length).toBeLessThan(60 + 4);
  });

  test('comes at most 10 times a second, and once per --report-interval of the end time', () => {
    const { written, at } = line(true);
    at(1000, 100);
    at(1050, 200);
    at(1200, 105);
    expect(written).toHaveLength(1);
    at(1300, 200);
    expect(written).toHaveLength(2);
  });

  test('shows the rate since the line before', () => {
    const { written, at } = line(true);
    at(1000, 100);
    at(2000, 600);
    expect(written[1]).toContain('500 k events/s');
  });

  test('is a line of its own per interval in a log, where the interval was given, and one at the end', () => {
    const { written, progress, at } = line(false, true);
    for (const [ms, gvt] of [
      [1, 4],
      [2, 12],
      [3, 15],
      [4, 19],
      [5, 20],
      [6, 55],
      [7, 59],
      [8, 61],
    ])
      at(ms, gvt);
    const shares = () =>
      written.map((text) => /^GVT ([\d.]+) .* efficiency 100 %\n$/.exec(text)?.[1]);
    expect(shares()).toEqual(['12', '20', '55', '61']);
    progress.end({ gvt: 1000, end: 1000, committed: 10, rolledBack: 0, seconds: 1 });
    expect(shares()).toEqual(['12', '20', '55', '61', '1000']);
  });

  test('is not there where stderr is no terminal', () => {
    const { written, progress, at } = line(false);
    at(1000, 100);
    progress.clear();
    expect(written).toEqual([]);
  });
});
