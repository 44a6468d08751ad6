/** What Triscope 0.1.0 recorded opens with every command that reads: `recorded-by-0.1.0` holds files as it wrote them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder, triscopeHere } from './support/run.ts';

const folder = fileURLToPath(new URL('recorded-by-0.1.0', import.meta.url));
const at = (name: string) => join(folder, name);
const RECORDING = at('layers.tri');
const RAW = 'archive/node1/1795367151.gz';

const ok = async (args: readonly string[]): Promise<string> => {
  const { code, out, err } = await triscopeHere(args);
  expect([args[0], code, err]).toEqual([
    args[0],
    0,
    expect.not.stringMatching(/damage|suspect|cannot/),
  ]);
  return out;
};

/** Records by kind, as 0.1.0 counted them. */
const RECORDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'layers.tri/stats-output/ross-stats-evtrace.bin': { event: 10 },
  'layers.tri/stats-output/ross-stats-gvt.bin': { pe: 4, kp: 64, lp: 8 },
  'app.report': { region: 1, unmarked: 1, epoch: 1, application: 1 },
  'app.trace-node1': { trace: 27 },
  'app.profile-node1': { profile_event: 14 },
  [RAW]: { cpu: 8, mem: 4, block: 2, net: 2, vm: 1 },
};

it.each(Object.entries(RECORDS))('info and read: %s', async (name, records) => {
  const path = at(name);
  const { files } = JSON.parse(await ok(['info', path, '--json']));
  expect(files).toHaveLength(1);
  expect(files[0].records).toMatchObject(records);
  const lines = (await ok(['read', path, '--format', 'json'])).trim().split('\n');
  const least = Object.values(records).reduce((sum, count) => sum + count, 0);
  expect(lines.length).toBeGreaterThanOrEqual(least);
});

it('query: the recording, and a loose file of each kind', async () => {
  const count = async (path: string, sql: string) =>
    JSON.parse(await ok(['query', path, sql, '--json']))[0].n;
  expect(await count(RECORDING, 'SELECT count(*)::INT AS n FROM ross_event')).toBe(10);
  const total = 'SELECT sum(events_processed)::INT AS n FROM ross_pe';
  expect(await count(RECORDING, total)).toBe(10);
  const traced = 'SELECT count(*)::INT AS n FROM geopm_trace';
  expect(await count(at('app.trace-node1'), traced)).toBe(27);
  expect(await count(at(RAW), 'SELECT count(*)::INT AS n FROM node_cpu')).toBe(8);
});

it('report, diff with itself, and export', async () => {
  const { recording } = JSON.parse(await ok(['report', RECORDING, '--json']));
  expect(recording.name).toBe('layers');
  await ok(['diff', RECORDING, RECORDING]);
  const out = join(temporaryFolder(), 'events.csv');
  await ok(['export', RECORDING, '--to', 'csv', '--table', 'ross_event', '-o', out]);
  expect(readFileSync(out, 'utf8').trim().split('\n')).toHaveLength(11);
});

it('node job: what was archived', async () => {
  const job = JSON.parse(await ok(['node', 'job', '4001', '--archive', at('archive'), '--json']));
  expect(JSON.stringify(job)).toContain('node1');
});
