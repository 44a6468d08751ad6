/** Genuine files, exported. `TRISCOPE_GOLDEN` is a folder with `ross/` and `geopm/real-run/`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { exportRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { faults, type Trace } from '../../formats/trace-event/rules.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN ?? '';
const folder = mkdtempSync(join(tmpdir(), 'export-golden-'));
afterAll(() => rmSync(folder, { recursive: true }));

const foldersIn = (path: string): string[] =>
  GOLDEN === ''
    ? []
    : readdirSync(path)
        .map((name) => join(path, name))
        .filter((one) => statSync(one).isDirectory());

describe.skipIf(GOLDEN === '')('genuine files (TRISCOPE_GOLDEN)', () => {
  it('of ROSS become a trace that follows the format’s rules', async () => {
    const out = join(folder, 'ross.json');
    const paths = foldersIn(join(GOLDEN, 'ross')).filter((path) =>
      readdirSync(path).some((name) => name.endsWith('.bin')),
    );
    expect(paths.length).toBeGreaterThan(20);
    // All in one: each export is a process of its own with a database of its own.
    const { files } = await exportRecording({ paths, format: 'trace-event' }, out);
    expect(files[0].rows).toBeGreaterThan(10_000);
    const trace = JSON.parse(readFileSync(out, 'utf8')) as Trace;
    expect(faults(trace)).toEqual([]);
    // Each recording has its own processes.
    const processes = trace.traceEvents.filter(({ name }) => name === 'process_name');
    const names = processes.map(({ args }) => String(args?.name));
    const missing = paths.filter(
      (path) => !names.some((name) => name.startsWith(`${basename(path)}: `)),
    );
    expect(missing).toEqual([]);
    // A viewer would show two of one number as one.
    expect(new Set(processes.map(({ pid }) => pid)).size).toBe(processes.length);
  }, 300_000);

  it('of GEOPM: a run’s regions nest, and traces come out as they went in', async () => {
    const run = join(GOLDEN, 'geopm/real-run');
    const files = readdirSync(run).filter((name) => /^(two|one)-rank\./.test(name));
    const out = join(folder, 'geopm.json');
    await exportRecording(
      { paths: files.map((name) => join(run, name)), format: 'trace-event' },
      out,
    );
    const trace = JSON.parse(readFileSync(out, 'utf8')) as Trace;
    expect(faults(trace)).toEqual([]);
    expect(trace.traceEvents.filter(({ ph }) => ph === 'B').length).toBeGreaterThan(50);
    for (const name of files.filter((one) => /\.trace-/.test(one))) {
      const made = join(folder, name);
      const options = { format: 'csv', style: 'geopm', tables: ['geopm_trace'] } as const;
      await exportRecording({ paths: [join(run, name)], ...options }, made);
      const lines = readFileSync(join(run, name), 'utf8').split('\n');
      const theirs = lines.filter((line) => line !== '' && !line.startsWith('#'));
      const ours = readFileSync(made, 'utf8').trimEnd().split('\n');
      expect([ours[0], ours.length]).toEqual([theirs[0], theirs.length]);
      for (const [k, line] of ours.entries()) expect(cellsOf(line)).toEqual(cellsOf(theirs[k]));
    }
  });
});

/** Numbers as numbers: how many digits are printed is the writer's. */
const cellsOf = (line: string): unknown[] =>
  line.split('|').map((cell) => {
    const value = Number(cell);
    return cell === '' || Number.isNaN(value) || cell.startsWith('0x') ? cell.toLowerCase() : value;
  });
