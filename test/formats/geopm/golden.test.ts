/** Genuine files of GEOPM against the facts that are known of them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GEOPM, openFile } from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { isReport } from '../../../src/formats/is-report.ts';
import { bytesRead } from '../../../src/formats/source.ts';
import { type ReadRow, rowsIn } from './support.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'geopm');
const run = (name: string) => join(ROOT, 'real-run', name);
const repo = (name: string) => join(ROOT, 'repo', name);
const session = (name: string) => join(ROOT, 'session', name);

function infoOf(path: string) {
  const source = openFile(path);
  try {
    return GEOPM.open(source).info();
  } finally {
    source.close();
  }
}

/** [name, hash, runtime, count, sync-runtime] of each region, then of the totals. */
const sections = (rows: readonly ReadRow[]) =>
  rows.map(({ kind, values }) => [
    kind === 'region' ? values.region : kind,
    values.hash,
    values['runtime (s)'],
    values.count,
    values['sync-runtime (s)'],
  ]);

/** Seconds between entries and exits of each process and region, from a profile trace. */
function visits(rows: readonly ReadRow[]): Map<string, number> {
  const open = new Map<string, number>();
  const total = new Map<string, number>();
  for (const { values } of rows) {
    const key = `${values.PROCESS} ${values.SIGNAL}`;
    const time = values.TIME as number;
    if (values.EVENT === 'REGION_ENTRY') open.set(key, time);
    if (values.EVENT === 'REGION_EXIT')
      total.set(key, (total.get(key) ?? 0) + time - (open.get(key) ?? 0));
  }
  return total;
}

describe.skipIf(GOLDEN === undefined)('genuine files of GEOPM (needs TRISCOPE_GOLDEN)', () => {
  it('are all recognised, and none is damaged', () => {
    const paths = ['real-run', 'repo', 'session'].flatMap((folder) =>
      readdirSync(join(ROOT, folder)).map((name) => join(ROOT, folder, name)),
    );
    expect(paths).toHaveLength(34);
    expect(paths.filter((path) => infoOf(path).damaged)).toEqual([]);
    expect(paths.filter(isReport)).toEqual(
      paths.filter((path) => /report/i.test(infoOf(path).era)),
    );
  });

  it('that are no reports are hardly read to find that out', () => {
    const trace = run('one-rank.trace-vm');
    const before = bytesRead.count;
    expect(isReport(trace)).toBe(false);
    expect(bytesRead.count - before).toBeLessThanOrEqual(64);
  });

  it('one rank: four regions, unmarked, epochs, application', () => {
    expect(sections(rowsIn(run('one-rank.report-vm')))).toEqual([
      ['compute_A', '0xcce45a1e', 1.00005, 10, 1.00011],
      ['sleep_C', '0xe4f71c04', 0.801503, 10, 0.804005],
      ['memory_B', '0x67adafb6', 0.701205, 10, 0.696509],
      ['short_D', '0x617514ea', 0.0404711, 200, 0.039555],
      ['unmarked', null, 0.513224, 0, 0.50998],
      ['epoch', null, 3.05016, 10, 3.05016],
      ['application', null, 3.05646, 0, 3.05016],
    ]);
    const [, , memory] = rowsIn(run('one-rank.report-vm'));
    expect(memory.values['time-hint-memory (s)']).toBe(0.50004);
    expect(memory.values['time-hint-io (s)']).toBe(0.196458);
    expect(infoOf(run('one-rank.report-vm')).more).toMatchObject({
      hashes: '4 CRC-32',
      agent: 'monitor',
    });
  });

  it('two ranks: a name with a blank, a slash and an accent; a mean count', () => {
    const rows = sections(rowsIn(run('two-rank.report-vm')));
    expect(rows[0]).toEqual(['A', '0xd3d99e8b', 1.50149, 12, 1.17973]);
    expect(rows[2]).toEqual(['solve halo/é', '0x242dcf54', 0.0911415, 9, 0.0100076]);
    expect(rows[3]).toEqual(['unmarked', null, 0.584793, 0, 1.30023]);
  });

  it('profile traces give the time in each region', () => {
    const one = visits(rowsIn(run('one-rank.profile-trace-vm')));
    expect(one.get('25458 0xcce45a1e')).toBeCloseTo(1.000051, 6);
    expect(one.get('25458 0x67adafb6')).toBeCloseTo(0.701205, 6);
    const sleeping = visits(rowsIn(repo('test_sleep_region_map_trace_profile.csv')));
    const seconds = ['0x2602d1d1', '0xb01fbe6e', '0x118d519a'].map((hash) =>
      sleeping.get(`11891 ${hash}`),
    );
    expect(seconds.map((value) => value?.toFixed(6))).toEqual([
      '10.001388',
      '10.001140',
      '9.000916',
    ]);
  });

  it('traces give sync-runtimes: each interval to the region at its begin', () => {
    const rows = rowsIn(run('one-rank.trace-vm'));
    expect(rows).toHaveLength(611);
    const total = new Map<unknown, number>();
    for (let k = 1; k < rows.length; k++) {
      const { TIME: from, REGION_HASH: hash } = rows[k - 1].values;
      total.set(hash, (total.get(hash) ?? 0) + (rows[k].values.TIME as number) - (from as number));
    }
    expect(total.get('0xcce45a1e')).toBeCloseTo(1.000111, 6);
    expect(total.get('0xe4f71c04')).toBeCloseTo(0.804005, 6);
    expect(total.get('0x67adafb6')).toBeCloseTo(0.696509, 6);
  });

  it('reports without regions or epochs, of killed applications, of millions of calls', () => {
    expect(rowsIn(run('no-regions.report-vm')).map(({ kind }) => kind)).toEqual(['application']);
    expect(rowsIn(run('no-epoch.report-vm')).map(({ kind }) => kind)).not.toContain('epoch');
    expect(rowsIn(run('killed-app.report-vm')).map(({ kind }) => kind)).toEqual([
      'epoch',
      'application',
    ]);
    expect(rowsIn(run('million-calls.report-vm'))[0].values.count).toBe(3e6);
  });

  it('a name with quotes that were not escaped is recovered, and told', () => {
    const path = run('INVALID-YAML-quote-in-region-name.report-vm');
    expect(rowsIn(path)[2].values.region).toBe('A B/é "q"');
    expect(infoOf(path).suspect).toEqual([
      { where: 'line 59', what: 'a name with quotes that are not escaped: read as A B/é "q"' },
    ]);
  });

  it('version 1.1: four hosts, old hashes, count behind the hints', () => {
    const path = repo('test_io_experiment.report');
    const info = infoOf(path);
    expect(info.entities).toEqual({ hosts: 4, regions: 6 });
    expect(info.records).toEqual({ region: 24, unmarked: 4, epoch: 4, application: 4 });
    expect(info.more).toMatchObject({
      hashes: '24 CRC-32C, as before version 3.1',
      agent: 'frequency_map',
    });
    const rows = rowsIn(path);
    expect(sections(rows)[0]).toEqual(['MPI_Allreduce', '0x0d94e328', 53.6629, 12005, 53.7105]);
    expect(rows[0].values).toMatchObject({
      host: 'mcfly1',
      'package-energy (J)': 10262.7,
      'power (W)': 191.075,
    });
    const totals = rows.filter(({ values }) => values.host === 'mcfly1' && values.region === null);
    expect(totals.map(({ values }) => values['runtime (s)'])).toEqual([254.14, 150.125, 310.057]);
  });

  it('version 2: 44 signals of cores, a negative time that is marked suspect', () => {
    const path = repo('test_sleep_region_map_report.yaml');
    const [network, , , unmarked, epoch, application] = rowsIn(path);
    expect(
      Object.keys(network.values).filter((key) => key.startsWith('CPU_FREQUENCY_STATUS@core-')),
    ).toHaveLength(44);
    expect(network.values).toMatchObject({
      region: 'network_network',
      'package-energy (J)': 660.035,
    });
    expect(unmarked.values['runtime (s)']).toBe(-0.863553);
    expect(epoch.values).toMatchObject({ 'runtime (s)': 29.1346, count: 10 });
    expect(application.values['runtime (s)']).toBe(29.1401);
    expect(infoOf(path).suspect[0]).toMatchObject({ where: 'line 183' });
  });

  it('sessions: table, report, several reports in one file, CSV report', () => {
    const rows = rowsIn(session('trace.csv'));
    expect(rows).toHaveLength(21);
    expect(Object.keys(rows[0].values)).toHaveLength(5);
    expect(rowsIn(session('report.yaml'))[0].values).toMatchObject({
      'sample-count': 21,
      'STUB::SAW-mean': 0.453727,
    });
    const several = rowsIn(session('report-multidoc.yaml'));
    expect(several.map(({ values }) => values['sample-count'])).toEqual([3, 2, 1]);
    expect(several[2].values['TIME-std']).toBeNaN();
    const csv = rowsIn(session('report-samples5.csv'));
    expect(csv.map(({ values }) => values['sample-count'])).toEqual([6, 5, 5, 5]);
  });
});
