/** `triscope region launch`: reports and traces of programs that mark regions. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generalText } from '../../src/formats/geopm/write.ts';
import { HASH_UNMARKED as UNMARKED } from '../../src/model/region-hash.ts';
import { Attribution } from '../../src/region/attribution.ts';
import { CPUS, HOST, launched, POWERCAP, programFolder, tree } from './support/region.ts';
import { BIN, triscope } from './support/run.ts';

const PROGRAM = `
const a = region('compute_A', 'compute'), b = region('memory_B', 'memory'), c = region('sleep_C', 'io');
sleep(20);
for (let k = 0; k < 8; k++) {
  epoch();
  a.enter(); sleep(30); a.exit();
  b.enter(); sleep(20); c.enter(); sleep(10); c.exit(); b.exit();
  sleep(10);
}
process.exitCode = 7;
`;

interface Rows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function rowsOf(path: string): Rows {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const [names, ...rows] = lines.filter((line) => !line.startsWith('# ')).map((l) => l.split('|'));
  return { names, rows };
}

describe('a program that marks regions', async () => {
  const options = [
    '--geopm-period=0.005',
    '--synthetic',
    '--geopm-trace=trace',
    '--geopm-trace-profile=profile',
    '--geopm-trace-signals=REGION_HASH@cpu',
    '--geopm-report-signals=TIME@package,CPU_FREQUENCY_STATUS',
    '--geopm-profile=say "hello"',
  ];
  const run = await launched(programFolder(PROGRAM), options);
  const regions = run.host.Regions ?? [];
  const [a, b] = ['compute_A', 'memory_B'].map((name) => regions.find((r) => r.region === name));

  it('ends with its own exit code, and without a word of ours', () => {
    expect([run.code, run.err]).toEqual([7, '']);
  });

  it('has exact counts and runtimes', () => {
    expect(a?.count).toBe(8);
    expect(a?.hash).toBe(0xcce45a1e);
    expect(a?.['runtime (s)']).toBeGreaterThanOrEqual(0.24);
    expect(b?.['runtime (s)']).toBeGreaterThanOrEqual(0.24);
    // Nested: it counts for memory_B, as in GEOPM.
    expect(regions.map((region) => region.region).sort()).toEqual(['compute_A', 'memory_B']);
    const runtimes = regions.map((region) => Number(region['runtime (s)']));
    expect(runtimes).toEqual([...runtimes].sort((x, y) => y - x));
  });

  it('has the hint of the innermost region', () => {
    expect(b?.['time-hint-memory (s)']).toBeGreaterThan(0.1);
    expect(b?.['time-hint-io (s)']).toBeGreaterThan(0.03);
    expect(a?.['time-hint-io (s)']).toBe(0);
  });

  it('has fields in GEOPM’s order', () => {
    const hints = 'network ignore compute memory io serial parallel unknown unset spin'.split(' ');
    expect(Object.keys(a ?? {})).toEqual([
      'region',
      'hash',
      'runtime (s)',
      'count',
      'sync-runtime (s)',
      'package-energy (J)',
      'dram-energy (J)',
      'power (W)',
      'frequency (%)',
      'frequency (Hz)',
      ...hints.map((hint) => `time-hint-${hint} (s)`),
      'TIME@package-0',
      'CPU_FREQUENCY_STATUS',
    ]);
    const extra = ['GEOPM startup (s)', 'GEOPM overhead (s)', 'geopmctl memory HWM (B)'];
    const application = Object.keys(run.host['Application Totals']);
    expect(application.slice(-4)).toEqual([...extra, 'geopmctl network BW (B/s)']);
    expect(Object.keys(run.host)).toEqual([
      'Regions',
      'Unmarked Totals',
      'Epoch Totals',
      'Application Totals',
      'Triscope',
    ]);
  });

  it('adds up: regions and unmarked are the application', () => {
    const sum = (key: string) =>
      [...regions, run.host['Unmarked Totals'] ?? {}].reduce((s, r) => s + Number(r[key]), 0);
    const application = run.host['Application Totals'];
    const whole = Number(run.host.Triscope.geopm['application sync-runtime (s)']);
    expect(sum('sync-runtime (s)')).toBeCloseTo(whole, 4);
    expect(sum('runtime (s)')).toBeCloseTo(Number(application['runtime (s)']), 4);
    // Sampled from its start to its end, both between samples; on a busy machine samples come late.
    expect(Math.abs(whole - Number(application['runtime (s)']))).toBeLessThan(0.1);
    expect(sum('package-energy (J)')).toBeCloseTo(50 * whole, 0);
    expect(application['sync-runtime (s)']).toBe(application['runtime (s)']);
  });

  it('has epoch totals from the first epoch on', () => {
    const epoch = run.host['Epoch Totals'];
    expect(epoch?.count).toBe(8);
    const runtime = Number(epoch?.['runtime (s)']);
    expect(runtime).toBeLessThan(Number(run.host['Application Totals']['runtime (s)']) - 0.015);
    expect(runtime).toBeGreaterThan(0.55);
  });

  it('has a trace that attributes to the report’s sync-runtimes', () => {
    const { names, rows } = rowsOf(join(run.folder, `trace-${HOST}`));
    expect(names.slice(0, 3)).toEqual(['TIME', 'EPOCH_COUNT', 'REGION_HASH']);
    expect(names).toContain('REGION_HASH-cpu-0');
    const attribution = new Attribution([{ behaviour: 'monotone', scope: 0 }]);
    for (const [time, , hash] of rows) {
      const at = hash === 'NAN' ? UNMARKED : Number(hash);
      attribution.update(Number(time), Float64Array.of(Number(time)), Uint32Array.of(at), 0);
    }
    for (const region of regions) {
      const ours = attribution.total(attribution.rowOf(Number(region.hash)), 0);
      expect(generalText(ours)).toBe(generalText(Number(region['sync-runtime (s)'])));
    }
  });

  it('has a profile trace whose exits less entries are the report’s runtimes', () => {
    const { names, rows } = rowsOf(join(run.folder, `profile-${HOST}`));
    expect(names).toEqual(['TIME', 'PROCESS', 'EVENT', 'SIGNAL', 'THREAD']);
    for (const region of regions) {
      const own = rows.filter(([, , , signal]) => Number(signal) === region.hash);
      const sum = own.reduce((s, [time, , event]) => {
        return event === 'REGION_ENTRY' ? s - Number(time) : s + Number(time);
      }, 0);
      expect(sum).toBeCloseTo(Number(region['runtime (s)']), 4);
    }
    expect(rows.filter(([, , event]) => event === 'EPOCH_COUNT').length).toBe(8);
  });

  it('has, beside it, each process and the regions inside regions', () => {
    const own = run.host.Triscope;
    expect(own.complete).toBe(true);
    expect(own.exit).toBe('code 7');
    expect(own.processes.map(({ name, epochs }) => [name, epochs])).toEqual([['app.mjs', 8]]);
    expect(JSON.stringify(own.regions)).toMatch(
      /"region":"memory_B","count":8,"runtime \(s\)":[\d.]+,"inside":\[\{"region":"sleep_C","count":8/,
    );
  });

  it('escapes the profile’s name', () => {
    expect(run.report.Profile).toBe('say "hello"');
    expect(run.report['GEOPM Version']).toMatch(/^triscope-\d/);
  });
});

describe('what the report has', () => {
  it('no field for what the machine does not have, and what it has from a tree', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder("region('a').run(() => sleep(60));");
    const { host } = await launched(folder, ['--geopm-period=0.005', '--root', root]);
    const application = host['Application Totals'];
    expect(application['package-energy (J)']).toBe(0);
    expect(application['power (W)']).toBe(0);
    expect(Object.keys(application)).not.toContain('dram-energy (J)');
    expect(Object.keys(application)).not.toContain('frequency (Hz)');
  });

  it('means over processes, with each process beside', async () => {
    const folder = programFolder(`
      import { spawn } from 'node:child_process';
      const [, , times] = process.argv;
      const r = region('work');
      if (times) for (let k = 0; k < times; k++) r.run(() => sleep(20));
      else {
        shutdown();
        await Promise.all([2, 4].map((n) => new Promise((done) =>
          spawn(process.execPath, ['app.mjs', String(n)], { stdio: 'inherit' }).on('exit', done))));
      }`);
    const { host } = await launched(folder, ['--geopm-period=0.005']);
    const counts = host.Triscope.processes.map(({ regions }) => regions[0]?.count ?? 0);
    expect(counts.toSorted()).toEqual([0, 2, 4]);
    expect(host.Regions?.[0].count).toBe(2);
  });

  it('the time of one thread where several are in a region at once, and all their visits', async () => {
    const body = `
      import { Worker, isMainThread } from 'node:worker_threads';
      if (isMainThread) for (let k = 0; k < 3; k++) new Worker(new URL(import.meta.url));
      region('together').run(() => sleep(isMainThread ? 700 : 500));`;
    const { host } = await launched(programFolder(body), []);
    const [together] = host.Regions ?? [];
    const application = Number(host['Application Totals']['runtime (s)']);
    expect(together.count).toBe(4);
    expect(together['runtime (s)']).toBeGreaterThanOrEqual(0.7);
    expect(together['runtime (s)']).toBeLessThanOrEqual(application);
    const [own] = host.Triscope.processes;
    expect(own.regions[0]['runtime of all threads (s)']).toBeGreaterThanOrEqual(2.2);
    const unmarked = Number(host['Unmarked Totals']?.['runtime (s)']);
    expect(unmarked + Number(together['runtime (s)'])).toBeCloseTo(application, 4);
  });

  it('the simulator’s own signals, where its phases are marked', async () => {
    const signals = ['GVT', 'EVENTS_PROCESSED', 'EVENTS_COMMITTED', 'ROLLBACKS'];
    const options = [
      '--auto=sim',
      '--geopm-period=0.01',
      '--geopm-trace=t',
      ...['report', 'trace'].map(
        (file) => `--geopm-${file}-signals=${signals.map((s) => `SIM::${s}`)}`,
      ),
    ];
    const sim = [
      process.execPath,
      BIN,
      'sim',
      'run',
      'phold',
      '--synch=3',
      '--pes=2',
      '--end=2000',
    ];
    const run = await launched(programFolder(''), options, [...sim, '--json']);
    const told = JSON.parse(run.out) as Record<string, number>;
    const totals = run.host['Application Totals'];
    expect(totals['SIM::EVENTS_PROCESSED']).toBe(Number(generalText(told.eventsProcessed)));
    expect(totals['SIM::EVENTS_COMMITTED']).toBe(Number(generalText(told.netEvents)));
    expect(totals['SIM::ROLLBACKS']).toBe(Number(generalText(told.totalRollbacks)));
    expect(totals['SIM::GVT']).toBeGreaterThan(0);
    expect(totals['SIM::GVT']).toBeLessThanOrEqual(2000);
    const { names, rows } = rowsOf(join(run.folder, `t-${HOST}`));
    const gvts = rows
      .map((row) => Number(row[names.indexOf('SIM::GVT')]))
      .filter((gvt) => gvt >= 0);
    expect(gvts.length).toBeGreaterThan(0);
    expect(gvts).toEqual(gvts.toSorted((x, y) => x - y));
  });

  it('epochs of a record filter in place of those that were marked', async () => {
    const folder = programFolder(`
      const [a, b] = [region('A'), region('B')];
      for (let k = 0; k < 12; k++) { epoch(); a.run(() => sleep(3)); b.run(() => sleep(3)); }`);
    const filter = '--geopm-record-filter=proxy_epoch,B,2,1';
    const { host } = await launched(folder, ['--geopm-period=0.005', filter]);
    expect(host['Epoch Totals']?.count).toBe(6);
  });

  it('GEOPM’s own figures where they are asked for', async () => {
    const folder = programFolder("epoch(); region('a').run(() => sleep(60)); sleep(20)");
    const { host } = await launched(folder, ['--geopm-period=0.005', '--geopm-compat']);
    const { geopm } = host.Triscope;
    const six = (value: unknown) => generalText(Number(value));
    expect(six(host['Application Totals']['sync-runtime (s)'])).toBe(
      six(geopm['application sync-runtime (s)']),
    );
    expect(six(host['Epoch Totals']?.['runtime (s)'])).toBe(six(geopm['epoch runtime (s)']));
  });
});

describe('a live view', () => {
  it('says once a second where the program is', async () => {
    const folder = programFolder("epoch(); region('solve').run(() => sleep(1500));");
    const { err } = await launched(folder, ['--live', '--synthetic', '--geopm-period=0.01']);
    expect(err).toMatch(/^triscope: [\d.]+ s: 1 of 1 processes run in solve, epoch 1, [\d.]+ W$/m);
  });
});

describe('programs of other kinds', () => {
  it('that mark nothing have application totals only', async () => {
    const { host, code } = await launched(programFolder(''), ['--synthetic'], ['sleep', '0.3']);
    expect(code).toBe(0);
    expect(Object.keys(host)).toEqual(['Application Totals', 'Triscope']);
    // The first sample comes a moment after the program has begun.
    expect(host['Application Totals']['runtime (s)']).toBeGreaterThan(0.25);
    expect(host['Application Totals']['package-energy (J)']).toBeGreaterThan(10);
    expect(host.Triscope.processes).toEqual([]);
    // Energy and time are of the same samples.
    expect(host['Application Totals']['power (W)']).toBeCloseTo(50, 2);
  });

  it('that are not there end with 127, as in a shell', async () => {
    const folder = programFolder('');
    const { code, err } = await triscope(['region', 'launch', '--', './no-such-program'], {
      cwd: folder,
    });
    expect([code, err]).toEqual([127, 'triscope: cannot run ./no-such-program: no such command\n']);
  });

  it.each([
    ['exit 0', 0],
    ['exit 42', 42],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
  ])('such as sh -c "%s" give exit code %d', async (script, expected) => {
    const { code, host } = await launched(programFolder(''), [], ['sh', '-c', script]);
    expect(code).toBe(expected);
    expect(host.Triscope.complete).toBe(expected < 128);
  });
});

describe('the command line', () => {
  const call = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    triscope(['region', 'launch', ...args], { cwd: programFolder(''), env });

  it.each([
    [['--geopm-perod=1', '--', 'true'], /--geopm-perod; did you mean --geopm-period\?/],
    [['--geopm-period=0', '--', 'true'], /--geopm-period=0: must be a finite number from 0.0001/],
    [['--geopm-period', '--', 'true'], /--geopm-period needs a value: it must be a finite number/],
    [
      ['--geopm-agent=monitr', '--', 'true'],
      /agent monitr: must be one of monitor, power_balancer/,
    ],
    [['--geopm-report-signals=TIMF', '--', 'true'], /no signal TIMF.*did you mean TIME\?/],
    [['--geopm-report-signals=REGION_HASH', '--', 'true'], /REGION_HASH is label: /],
    [
      ['--geopm-trace=t', '--geopm-trace-signals=TIME@gup', '--', 'true'],
      /domain gup: must be one/,
    ],
    [['--geopm-policy=none.json', '--', 'true'], /policy none.json: ENOENT/],
    [['--geopm-record-filter=proxy', '--', 'true'], /there is no record filter proxy/],
    [['--root', 'nowhere', '--', 'true'], /--root nowhere: there is no such folder/],
    [[], /which command\? usage: triscope region launch/],
  ])('refuses %j', async (args, message) => {
    const { code, err, out } = await call(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err.trim().split('\n').length).toBe(1);
  });

  it('takes GEOPM’s variables, and options before them', async () => {
    const folder = programFolder("region('a').run(() => {});");
    const env = {
      GEOPM_REPORT: 'other.report',
      GEOPM_PROFILE: 'from the environment',
      GEOPM_PERIOD: '0.01',
      GEOPM_NUM_PROC: '2',
    };
    const args = [
      'region',
      'launch',
      '--geopm-profile=from an option',
      process.execPath,
      'app.mjs',
    ];
    const { code, err } = await triscope(args, { cwd: folder, env });
    expect(code).toBe(0);
    expect(err).toMatch(/GEOPM_NUM_PROC has no effect: /);
    const text = readFileSync(join(folder, 'other.report'), 'utf8');
    expect(text).toMatch(/^Profile: "from an option"$/m);
    expect(text).toMatch(/period \(s\): 0.01/);
    expect(existsSync(join(folder, 'geopm.report'))).toBe(false);
  });

  it('notes a variable of GEOPM that nobody knows, with the nearest, and runs', async () => {
    const env = { GEOPM_REPROT: 'x', GEOPM_REPORT: '/dev/null' };
    const { code, err, out } = await triscope(['region', 'launch', '--', 'echo', 'ran'], { env });
    expect([code, out]).toEqual([0, 'ran\n']);
    expect(err).toMatch(/GEOPM_REPROT has no effect: it is not known; did you mean GEOPM_REPORT\?/);
  });

  it('says in JSON how the command ended, and where its files are', async () => {
    const folder = programFolder('');
    const args = ['region', 'launch', '--json', '--geopm-period=0.01', '--geopm-trace=t'];
    const command = ['sh', '-c', 'echo own; sleep 0.1; exit 3'];
    const { code, out } = await triscope([...args, '--', ...command], { cwd: folder });
    expect(code).toBe(3);
    const [own, line] = out.trim().split('\n');
    expect(own).toBe('own');
    const { sampling, ...facts } = JSON.parse(line);
    expect(facts).toEqual({
      exitCode: 3,
      report: join(folder, 'geopm.report'),
      trace: join(folder, `t-${HOST}`),
      profileTrace: null,
    });
    expect(sampling.samples).toBeGreaterThan(0);
  });

  it('says that a report cannot be written before anything is run', async () => {
    const { code, err, out } = await call(['--geopm-report=no/such/folder/r', '--', 'echo', 'ran']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^triscope: report .*no\/such\/folder\/r cannot be written: ENOENT/);
  });

  it('has help that names every option that does something', async () => {
    const { out, code } = await call(['--help']);
    expect(code).toBe(0);
    for (const option of ['--geopm-report', '--geopm-record-filter', '--allow-control', '--root']) {
      expect(out).toContain(option);
    }
  });
});
