/** Reading the runs that are compared: each path once, and one failure ends the others. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRuns } from '../../dist/report/compare/runs.js';

const folder = mkdtempSync(join(tmpdir(), 'triscope-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const trace = (name: string) => {
  const path = join(folder, name);
  const rows = Array.from({ length: 9 }, (_, k) => `${k}|${k * 100}|${k}`);
  writeFileSync(
    path,
    ['# geopm_version: 3.1.0', 'TIME|CPU_ENERGY|EPOCH_COUNT', ...rows, ''].join('\n'),
  );
  return path;
};

describe('runs that are compared', () => {
  it('come in the order of their paths, each once', async () => {
    const [a, b, c] = ['a.trace', 'b.trace', 'c.trace'].map(trace);
    const runs = await readRuns([a, b, a, c], {});
    expect([...runs.keys()]).toEqual([a, b, c]);
    expect([...runs.values()].map(({ path }) => path)).toEqual([a, b, c]);
  });

  it('end with the error of the one that cannot be read', async () => {
    const missing = join(folder, 'missing.tri');
    await expect(readRuns([trace('d.trace'), missing, trace('e.trace')], {})).rejects.toThrow(
      'missing.tri',
    );
  });

  it('end with the reason of a signal', async () => {
    const asked = new AbortController();
    const read = readRuns([trace('f.trace'), trace('g.trace')], { signal: asked.signal });
    asked.abort(new Error('nobody waits'));
    await expect(read).rejects.toThrow('nobody waits');
  });
});
