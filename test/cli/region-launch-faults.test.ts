/** What may go wrong while `triscope region launch` runs: odd programs, kills, files that fail. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  beside,
  CPUS,
  HOST,
  launched,
  type Parsed,
  POWERCAP,
  programFolder,
  readReport,
  tree,
} from './support/region.ts';
import { triscope } from './support/run.ts';

const FAST = '--geopm-period=0.005';

/** Waits until `is`, at most 50 s. */
async function until(is: () => boolean): Promise<void> {
  for (let k = 0; k < 2500 && !is(); k++) await new Promise((done) => setTimeout(done, 20));
}

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

describe('an application', () => {
  it('that exits at once is in the report', async () => {
    const { host } = await launched(programFolder("region('brief').run(() => {})"), [FAST]);
    expect(host.Regions?.map(({ region, count }) => [region, count])).toEqual([['brief', 1]]);
    expect(host.Triscope.complete).toBe(true);
  });

  it('whose processes come and go between samples is there whole', async () => {
    const pages = beside('pages.py');
    const script = `for k in 1 2 3 4 5; do python3 ${pages} 1 0.001; done`;
    const run = await launched(programFolder(''), ['--geopm-period=5'], ['sh', '-c', script]);
    expect(run.host.Triscope.processes.length).toBe(5);
    expect(run.host.Regions?.map(({ region, count }) => [region, count])).toEqual([['A', 1]]);
    expect(run.host.Triscope.complete).toBe(true);
  });

  it('of 256 processes at once has one region that all were in', async () => {
    const command = ['python3', beside('pages.py'), '256', '2'];
    const run = await launched(programFolder(''), ['--geopm-period=0.02'], command);
    const { host } = run;
    expect(host.Triscope.processes.length).toBe(256);
    const [a] = host.Regions ?? [];
    expect(a.count).toBe(1);
    expect(a['runtime (s)']).toBeGreaterThanOrEqual(2);
    // All of them overlap in most of the two seconds.
    expect(a['sync-runtime (s)']).toBeGreaterThan(1);
  });

  it('with ten thousand names of regions has as many as find room, and the rest as one', async () => {
    const folder = programFolder("for (let k = 0; k < 10_000; k++) region('r' + k).run(() => {});");
    const words = ['region', 'launch', FAST, '--', process.execPath, 'app.mjs'];
    const { code } = await triscope(words, { cwd: folder });
    expect(code).toBe(0);
    // A parser of YAML takes seconds for so many.
    const text = textOf(join(folder, 'geopm.report'));
    const [listed] = text.split('Unmarked Totals:');
    const counts = Array.from(listed.matchAll(/^ {6}count: (\d+)$/gm), ([, count]) =>
      Number(count),
    );
    expect(counts.length).toBeGreaterThan(1000);
    expect(counts.length).toBeLessThan(10_000);
    const counted = counts.reduce((sum, count) => sum + count, 0);
    const unplaced = /entries not placed: (\d+)/.exec(text)?.[1] ?? 0;
    expect(counted + Number(unplaced)).toBe(10_000);
  });

  it('with odd names of regions has them as they are', async () => {
    const names = [
      'say "a"',
      'two\nlines',
      '# no: comment',
      "it's",
      'tab\t',
      'é😀',
      'nul\0l',
      '\ufeffmark',
      'x'.repeat(5000),
    ];
    const body = `for (const name of ${JSON.stringify(names)}) region(name).run(() => sleep(1));`;
    const { host } = await launched(programFolder(body), [FAST]);
    const found = (host.Regions ?? []).map(({ region }) => region);
    expect(found.sort()).toEqual(names.toSorted());
  });

  it('that is killed leaves a report of what was seen, with names, marked incomplete', async () => {
    const body = `epoch();
      region('done').run(() => sleep(100));
      region('fatal').run(() => { sleep(1000); process.kill(process.pid, 'SIGKILL'); sleep(5000); });`;
    const { host, code } = await launched(programFolder(body), [FAST]);
    expect(code).toBe(137);
    expect(host.Triscope.complete).toBe(false);
    expect(host.Triscope.incomplete).toBe('the application was ended by SIGKILL');
    const regions = new Map(host.Regions?.map((region) => [region.region, region]));
    expect(regions.get('done')?.count).toBe(1);
    // It was never left: no visit is complete, but its time counts.
    expect(regions.get('fatal')?.count).toBe(0);
    expect(regions.get('fatal')?.['runtime (s)']).toBeGreaterThanOrEqual(1);
    expect(regions.get('fatal')?.['sync-runtime (s)']).toBeGreaterThan(0.1);
    expect(host['Epoch Totals']?.count).toBe(1);
  });

  it('of which one process vanishes says so', async () => {
    const body = "region('a').run(() => process.kill(process.pid, 'SIGKILL'));";
    const command = ['sh', '-c', `${process.execPath} app.mjs; exit 3`];
    const { host, code } = await launched(programFolder(body), [FAST], command);
    expect(code).toBe(3);
    expect(host.Triscope.incomplete).toBe('1 of 1 processes ended without saying so');
    expect(host.Triscope.processes[0].vanished).toBe(true);
  });
});

// These mostly wait, so together.
describe.concurrent('a process that outlives the command', () => {
  it('counts up to the command’s end, and the report says so', async () => {
    const folder = programFolder(`
      import { writeFileSync } from 'node:fs';
      region('long').run(() => { writeFileSync('there', ''); sleep(4000); });`);
    const script = `${process.execPath} app.mjs & while [ ! -e there ]; do sleep 0.02; done; sleep 0.3`;
    const { host, code } = await launched(folder, [FAST], ['sh', '-c', script]);
    expect(code).toBe(0);
    expect(host.Triscope.incomplete).toBe('1 of 1 processes ran on when the command had ended');
    expect(host.Triscope.processes[0].running).toBe(true);
    const [long] = host.Regions ?? [];
    expect(long['runtime (s)']).toBeGreaterThanOrEqual(0.25);
    expect(long['sync-runtime (s)']).toBeGreaterThan(0);
  });
});

describe.concurrent('the controller', () => {
  it('passes on signals, and ends with the application', async () => {
    const folder = programFolder('');
    const script = 'trap "exit 9" TERM; echo ready > ready; while :; do sleep 0.05; done';
    const { code } = await launched(folder, [FAST], ['sh', '-c', script], {
      meanwhile: (child) =>
        void until(() => existsSync(join(folder, 'ready'))).then(() => child.kill('SIGTERM')),
    });
    expect(code).toBe(9);
  });

  it('runs nothing where a signal came before the command did', async () => {
    const folder = programFolder('');
    // The folder of pages is made first; the controller is started then.
    const pages = mkdtempSync(join(tmpdir(), 'triscope-test-'));
    const { code } = await triscope(['region', 'launch', '--', 'touch', 'ran'], {
      cwd: folder,
      env: { TMPDIR: pages },
      meanwhile: (child) =>
        void until(() => readdirSync(pages).length > 0).then(() => child.kill('SIGTERM')),
    });
    // Where it came too late, the command has run to its end.
    expect([0, 143]).toContain(code);
    expect(existsSync(join(folder, 'ran'))).toBe(code === 0);
    expect(readdirSync(pages)).toEqual([]);
  });

  it('when killed, leaves the application running, and a report marked incomplete', async () => {
    const folder = programFolder(`
      import { writeFileSync } from 'node:fs';
      region('first').run(() => sleep(100));
      region('second').run(() => sleep(3000));
      writeFileSync('survived', '');`);
    const path = join(folder, 'geopm.report');
    let wasRunning = false;
    await triscope(
      [
        'region',
        'launch',
        FAST,
        '--save-every=0.2',
        '--geopm-trace=t',
        '--',
        process.execPath,
        'app.mjs',
      ],
      {
        cwd: folder,
        meanwhile: (child) => {
          child.on('exit', () => {
            wasRunning = !existsSync(join(folder, 'survived'));
          });
          void until(() => textOf(path).includes('region: "second"')).then(() =>
            child.kill('SIGKILL'),
          );
        },
      },
    );
    const { host } = readReport(path);
    expect(host.Triscope.complete).toBe(false);
    expect(host.Regions?.map(({ region }) => region).toSorted()).toEqual(['first', 'second']);
    expect(textOf(join(folder, `t-${HOST}`)).split('\n').length).toBeGreaterThan(10);
    expect(wasRunning).toBe(true);
    await until(() => existsSync(join(folder, 'survived')));
  });

  it('leaves no folder of pages behind', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('triscope-region-'));
    const folder = programFolder(`
      import { writeFileSync } from 'node:fs';
      writeFileSync('pages', process.env.TRISCOPE_REGION_DIR);
      region('a').run(() => {});`);
    await launched(folder, []);
    const pages = textOf(join(folder, 'pages'));
    expect(pages).not.toBe('');
    expect(before).not.toContain(pages);
    expect(existsSync(pages)).toBe(false);
  });

  it('goes by the monotonic clock: steps of the wall clock change nothing', async () => {
    const folder = programFolder("region('a').run(() => sleep(1000));");
    // In every thread of the controller and of the application, the wall clock leaps an hour back and forth.
    const step = join(folder, 'step.mjs');
    writeFileSync(
      step,
      'let n = 0; const real = Date.now; Date.now = () => real() + (n++ % 2) * 3_600_000;',
    );
    const env = { NODE_OPTIONS: `--import=${step}` };
    const { host } = await launched(folder, [FAST], undefined, { env });
    const [a] = host.Regions ?? [];
    expect(a['runtime (s)']).toBeGreaterThanOrEqual(1);
    // Where the machine is busy, samples come late.
    expect(a['sync-runtime (s)']).toBeGreaterThan(0.1);
    for (const key of ['runtime (s)', 'sync-runtime (s)']) expect(a[key]).toBeLessThan(100);
  });

  it('samples on, at even times, with all CPUs busy, and says how late it was', async () => {
    const busy = `const { Worker, isMainThread } = await import('node:worker_threads');
      const end = performance.now() + 1000;
      if (isMainThread) for (let k = 0; k < 4; k++) new Worker(new URL(import.meta.url));
      while (performance.now() < end);`;
    const { host } = await launched(programFolder(busy), [FAST]);
    const { sampling } = host.Triscope;
    const [samples, missed] = [Number(sampling.samples), Number(sampling.missed)];
    expect(samples).toBeGreaterThan(20);
    // Each moment was taken or is counted.
    expect(samples + missed).toBeGreaterThan(190);
    expect(Number(sampling['worst lateness (s)'])).toBeGreaterThanOrEqual(
      Number(sampling['mean lateness (s)']),
    );
  });

  it('does not wait for a signal’s file that blocks', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const energy = join(root, 'sys/class/powercap/intel-rapl:0/energy_uj');
    execFileSync('sh', ['-c', 'rm "$1" && mkfifo "$1"', 'sh', energy]);
    const folder = programFolder("region('a').run(() => sleep(100));");
    const { host, milliseconds } = await launched(folder, [FAST, '--root', root]);
    expect(milliseconds).toBeLessThan(30_000);
    expect(Object.keys(host['Application Totals'])).not.toContain('package-energy (J)');
  });

  it('that waits for a driver for ever does not keep the command from its end', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder('');
    execFileSync('cc', ['-shared', '-fPIC', '-o', join(folder, 'b.so'), beside('blocked-read.c')]);
    const env = {
      LD_PRELOAD: join(folder, 'b.so'),
      BLOCKED_FILE: join(root, 'sys/class/powercap/intel-rapl:0/energy_uj'),
    };
    const command = ['sh', '-c', 'sleep 2; exit 5'];
    const { host, code, err } = await launched(folder, [FAST, '--root', root], command, { env });
    expect(code).toBe(5);
    expect(err).toMatch(
      /did not end within 10 s: a file that a signal is read from may not answer/,
    );
    expect(host.Triscope.complete).toBe(false);
  });

  it('goes on where a trace can be written no more', async () => {
    const folder = programFolder("region('a').run(() => sleep(300));");
    const args = [FAST, '--geopm-trace=/dev/full'];
    // BASE-HOST: a link to the device that is always full.
    execFileSync('ln', ['-s', '/dev/full', join(folder, `t-${HOST}`)]);
    const { code, err } = await triscope(
      ['region', 'launch', args[0], '--geopm-trace=t', '--', process.execPath, 'app.mjs'],
      { cwd: folder },
    );
    expect(code).toBe(1);
    expect(err).toMatch(/trace .*t-.* cannot be written: ENOSPC/);
  });
});

describe('other readers', () => {
  it('PyYAML reads the report: five keys, hosts, and scalars in every section', async () => {
    const folder = programFolder('epoch(); region(\'a "b"\').run(() => sleep(30));');
    await launched(folder, ['--synthetic']);
    const program = `
import sys, json
try:
    import yaml
except ImportError:
    print('null'); sys.exit()
print(json.dumps(yaml.safe_load(open('geopm.report'))))`;
    const out = execFileSync('python3', ['-c', program], { cwd: folder }).toString();
    const read = JSON.parse(out) as Parsed | null;
    const report = read ?? (parse(textOf(join(folder, 'geopm.report'))) as Parsed);
    const keys = ['GEOPM Version', 'Start Time', 'Profile', 'Agent', 'Policy', 'Hosts'];
    expect(Object.keys(report)).toEqual(keys);
    const host = report.Hosts[HOST];
    for (const section of [...(host.Regions ?? []), host['Application Totals']]) {
      for (const value of Object.values(section)) expect(typeof value).toMatch(/number|string/);
    }
  });
});
