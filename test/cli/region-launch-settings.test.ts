import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launcherWords } from '../../dist/cli/geopmlaunch-order.js';
import {
  CPUS,
  HOST,
  launched,
  POWERCAP,
  programFolder,
  readReport,
  tree,
} from './support/region.ts';
import { BIN, triscope } from './support/run.ts';

/** Waits until `is`, at most 50 s. */
async function until(is: () => boolean): Promise<void> {
  for (let k = 0; k < 2500 && !is(); k++) await new Promise((done) => setTimeout(done, 20));
}

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

describe('words in the order of geopmlaunch', () => {
  it.each([
    [
      'srun -n 4 --geopm-report=r -- ./app --geopm-x',
      '--geopm-report=r',
      'srun -n 4 ./app --geopm-x',
    ],
    ['ompi --geopm-ctl process -n 2 ./app 7', '--geopm-ctl process', 'mpiexec -n 2 ./app 7'],
    ['srun --geopm-ompt-enable -n 2 ./app', '--geopm-ompt-enable', 'srun -n 2 ./app'],
    ['SrunLauncher ./app', '', 'srun ./app'],
  ])('“%s”', (line, options, command) => {
    const words = launcherWords(line.split(' '));
    expect(words?.options.join(' ')).toBe(options);
    expect(words?.command.join(' ')).toBe(command);
  });

  it.each(['./app --geopm-report=r', 'mpirun -np 2 ./app', 'constructor -- x'])(
    '“%s” has nothing to take out',
    (line) => expect(launcherWords(line.split(' '))).toBeNull(),
  );
});

describe('a report', () => {
  it('that is a folder is refused before anything is run', async () => {
    const folder = programFolder('');
    const { code, err } = await triscope(
      ['region', 'launch', `--geopm-report=${folder}`, '--', 'touch', 'ran'],
      { cwd: folder },
    );
    expect([code, err]).toEqual([
      1,
      `triscope: report ${folder} cannot be written: it is a folder\n`,
    ]);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('of a launch within a launch that writes the same one says so', async () => {
    const folder = programFolder('');
    // As geopmlaunch has it: the launcher's own option comes first, the outer launch's among them.
    writeFileSync(join(folder, 'srun'), '#!/bin/sh\nshift 2\nexec "$@"\n', { mode: 0o755 });
    const inner = `${BIN} region launch -- true`;
    const words = [
      'srun',
      '-n',
      '1',
      '--geopm-report=geopm.report',
      '--geopm-profile',
      'outer',
      '--',
    ];
    const { code, err } = await triscope(['region', 'launch', ...words, 'sh', '-c', inner], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env.PATH}` },
    });
    const path = join(folder, 'geopm.report');
    expect([code, err]).toEqual([
      0,
      `triscope: ${path}: the enclosing region launch writes the same file later; name another with --geopm-report\n`,
    ]);
    expect(textOf(path)).toContain('Profile: "outer"');
  });
});

describe('settings of the machine', () => {
  const LIMIT = 'sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw';
  const policy = (folder: string, text: string) => {
    writeFileSync(join(folder, 'policy.json'), text);
    return '--geopm-policy=policy.json';
  };
  /** Keeps what the controller saves in a folder of its own. */
  const stateIn = (folder: string) => ({ env: { XDG_STATE_HOME: join(folder, 'state') } });
  const GOVERNOR = ['--geopm-agent=power_governor', '--allow-control'];

  it('are changed by power_governor, and put back at the end', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder(`
      import { copyFileSync, readFileSync } from 'node:fs';
      const limit = ${JSON.stringify(join(root, LIMIT))};
      region('a').run(() => until(() => readFileSync(limit, 'utf8').startsWith('190000000')));
      copyFileSync(limit, 'while');`);
    const options = [...GOVERNOR, policy(folder, '{"CPU_POWER_LIMIT": 190}'), '--root', root];
    const { report, host, err } = await launched(folder, options, undefined, stateIn(folder));
    expect(err).toBe('');
    expect(textOf(join(folder, 'while'))).toMatch(/^190000000\b/);
    expect(textOf(join(root, LIMIT)).trim()).toBe('200000000');
    expect([report.Agent, report.Policy]).toEqual(['power_governor', { CPU_POWER_LIMIT: 190 }]);
    expect(host).toHaveProperty('Power limit of each package (W)', 190);
    expect(readdirSync(join(folder, 'state/triscope/controls'))).toEqual([]);
  });

  it('are the thermal design power without a policy; of a GPU that counts no energy its power is told', async () => {
    const sensors = 'sys/class/drm/card0/device/hwmon/hwmon5';
    const root = tree({
      ...CPUS,
      ...POWERCAP,
      'sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw': '165000000',
      [`${sensors}/name`]: 'amdgpu',
      [`${sensors}/power1_average`]: '90000000',
    });
    const folder = programFolder(`
      import { readFileSync } from 'node:fs';
      const limit = ${JSON.stringify(join(root, LIMIT))};
      region('a').run(() => until(() => readFileSync(limit, 'utf8').startsWith('165000000')));
      sleep(100);`);
    const options = [...GOVERNOR, '--root', root];
    const { report, host, err } = await launched(folder, options, undefined, stateIn(folder));
    expect([err, report.Policy]).toEqual(['', {}]);
    expect(host).toHaveProperty('Power limit of each package (W)', 165);
    expect(textOf(join(root, LIMIT)).trim()).toBe('200000000');
    expect(host['Application Totals']['gpu-power (W)']).toBe(90);
    expect(host['Application Totals']).not.toHaveProperty('gpu-energy (J)');
  });

  it('are not touched without --allow-control, which is said', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder("region('a').run(() => sleep(50));");
    const options = [GOVERNOR[0], policy(folder, '{"CPU_POWER_LIMIT": 190}'), '--root', root];
    const { err, host } = await launched(folder, options);
    expect(err).toMatch(/power_governor changes nothing: --allow-control permits/);
    expect(host.Triscope.warnings?.length).toBe(1);
    expect(JSON.stringify(host)).not.toContain('Power limit');
    expect(textOf(join(root, LIMIT)).trim()).toBe('200000000');
  });

  it('are put back by region restore where the controller was killed', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder(`
      const launcher = process.ppid;
      region('a').run(() => until(() => process.ppid !== launcher));`);
    const options = [...GOVERNOR, policy(folder, '{"CPU_POWER_LIMIT": 180}'), '--root', root];
    await triscope(['region', 'launch', ...options, '--', process.execPath, 'app.mjs'], {
      cwd: folder,
      ...stateIn(folder),
      meanwhile: (child) =>
        void until(() => textOf(join(root, LIMIT)).startsWith('180000000')).then(() =>
          child.kill('SIGKILL'),
        ),
    });
    expect(textOf(join(root, LIMIT))).toMatch(/^180000000/);
    const { code, out } = await triscope(
      ['region', 'restore', '--json', '--root', root],
      stateIn(folder),
    );
    expect(code).toBe(0);
    const [{ restored, error }] = JSON.parse(out);
    expect([restored, error]).toEqual([[{ path: join(root, LIMIT), text: '200000000' }], null]);
    expect(textOf(join(root, LIMIT)).trim()).toMatch(/^200000000/);
    expect((await triscope(['region', 'restore'], stateIn(folder))).out).toBe('');
  });

  it('follow an endpoint while the application runs', async () => {
    const root = tree({ ...CPUS, ...POWERCAP });
    const folder = programFolder(`
      import { readFileSync, renameSync, writeFileSync } from 'node:fs';
      const limit = () => readFileSync(${JSON.stringify(join(root, LIMIT))}, 'utf8').trim();
      const put = (text) => { writeFileSync('p.tmp', text); renameSync('p.tmp', 'endpoint.json'); };
      const seen = [];
      region('a').enter();
      for (const [text, watts] of [['{"CPU_POWER_LIMIT": 170}', 170], ['nonsense', 0], ['{"CPU_POWER_LIMIT": 160}', 160]]) {
        put(text);
        if (watts === 0) sleep(400);
        else until(() => limit() === \`\${watts}000000\`);
        seen.push(limit());
      }
      region('a').exit();
      writeFileSync('seen', seen.join());`);
    const options = [...GOVERNOR, '--geopm-endpoint=endpoint.json', '--root', root];
    const { report, err } = await launched(folder, options, undefined, stateIn(folder));
    expect(textOf(join(folder, 'seen'))).toBe('170000000,170000000,160000000');
    expect(report.Policy).toBe('DYNAMIC');
    expect(err).toMatch(/endpoint.json: not JSON: .*; the policy before it holds/);
  });

  const UTS = spawnSync('unshare', ['--uts', 'true']).status === 0;
  it.skipIf(!UTS)(
    `of two hosts are balanced by power_balancer: the slow one gets what the fast one leaves${UTS ? '' : ' (needs root with namespaces)'}`,
    async () => {
      const folder = programFolder(`
        import { existsSync, readFileSync, writeFileSync } from 'node:fs';
        const [, , limit, joules] = process.argv;
        // A plain file is empty for a moment while a limit is written; a control of the kernel is not.
        const watts = () => Number.parseInt(readFileSync(limit, 'utf8'), 10) / 1e6 || watts();
        // As long as its power lets it: an epoch of the slow host takes 50 ms at 120 W.
        for (let k = 0; k < 400 && !existsSync('done'); k++) {
          sleep((1000 * joules) / watts());
          epoch();
          if (joules > 4 && watts() > 122 && watts() < 200) writeFileSync('done', String(watts()));
        }`);
      const roots = [0, 1].map(() =>
        tree({
          ...CPUS,
          ...POWERCAP,
          'sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw': '200000000',
        }),
      );
      writeFileSync(join(folder, 'policy.json'), '{"CPU_POWER_LIMIT": 120}');
      const hosts = roots.map((root, rank) => {
        const app = `'${process.execPath}' app.mjs '${join(root, LIMIT)}' ${[3, 6][rank]}`;
        const agent = '--geopm-agent=power_balancer --geopm-policy=policy.json --allow-control';
        const launch = `'${process.execPath}' '${BIN}' region launch ${agent} --root='${root}' -- ${app}`;
        const env = {
          ...{ OMPI_COMM_WORLD_RANK: `${rank}`, OMPI_COMM_WORLD_SIZE: '2' },
          ...{ OMPI_COMM_WORLD_LOCAL_RANK: '0', OMPI_COMM_WORLD_LOCAL_SIZE: '1' },
          ...{ PMIX_NAMESPACE: 'balanced', XDG_STATE_HOME: join(folder, `state${rank}`) },
        };
        const script = `hostname n${rank}; exec ${launch}`;
        const child = spawn('unshare', ['--uts', 'sh', '-c', script], {
          ...{ cwd: folder, env: { ...process.env, ...env }, stdio: 'inherit' },
        });
        return new Promise((resolve) => child.on('close', resolve));
      });
      expect(await Promise.all(hosts)).toEqual([0, 0]);
      const { Hosts } = readReport(join(folder, 'geopm.report')).report;
      const [fast, slow] = ['n0', 'n1'].map(
        (name) => (Hosts[name] as unknown as Record<string, number>)['Power limit at the end (W)'],
      );
      expect(Number(textOf(join(folder, 'done')))).toBeGreaterThan(122);
      expect(slow).toBeGreaterThan(122);
      expect(fast + slow).toBeLessThanOrEqual(240);
      // Put back, and nothing is left of what they told each other.
      for (const root of roots) expect(textOf(join(root, LIMIT)).trim()).toMatch(/^200000000/);
      expect(readdirSync(folder).filter((name) => name.includes('peers'))).toEqual([]);
    },
  );

  it('are limits of frequency, region by region, under frequency_map', async () => {
    const files = Object.fromEntries(
      [0, 1].flatMap((cpu) => {
        const policyFolder = `sys/devices/system/cpu/cpufreq/policy${cpu}`;
        return [
          [`${policyFolder}/affected_cpus`, String(cpu)],
          [`${policyFolder}/scaling_max_freq`, '3000000'],
          [`${policyFolder}/scaling_min_freq`, '1000000'],
          [`${policyFolder}/cpuinfo_max_freq`, '3000000'],
          [`${policyFolder}/cpuinfo_min_freq`, '1000000'],
        ];
      }),
    );
    const uncore = 'sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00';
    const root = tree({
      ...CPUS,
      ...files,
      [`${uncore}/max_freq_khz`]: '2400000',
      [`${uncore}/min_freq_khz`]: '800000',
      [`${uncore}/current_freq_khz`]: '2200000',
    });
    const limit = join(root, 'sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq');
    const folder = programFolder(`
      import { readFileSync, writeFileSync } from 'node:fs';
      const limit = () => parseInt(readFileSync(${JSON.stringify(limit)}, 'utf8'), 10);
      const seen = [];
      for (const [name, hertz] of [['A', 1.5e9], ['B', 2e9]])
        region(name).run(() => { until(() => limit() === hertz / 1000); seen.push(limit()); });
      for (const end of ['min', 'max'])
        seen.push(parseInt(readFileSync(${JSON.stringify(join(root, uncore))} + '/' + end + '_freq_khz', 'utf8'), 10));
      writeFileSync('seen', seen.join());`);
    const text =
      '{"FREQ_GPU_DEFAULT": 1e9, "FREQ_CPU_DEFAULT": 2e9, "FREQ_CPU_UNCORE": 1.8e9, "HASH_0": "0xd3d99e8b", "FREQ_0": 1.5e9}';
    const options = ['--geopm-agent=frequency_map', '--allow-control', policy(folder, text)];
    const args = [...options, '--geopm-period=0.005', '--root', root];
    const { host, err } = await launched(folder, args, undefined, stateIn(folder));
    expect(err).toBe(
      'triscope: frequency_map: FREQ_GPU_DEFAULT is not applied: this machine has no GPU_CORE_FREQUENCY_MAX_CONTROL\n',
    );
    expect(textOf(join(folder, 'seen'))).toBe('1500000,2000000,1800000,1800000');
    expect(textOf(join(root, uncore, 'max_freq_khz')).trim()).toBe('2400000');
    expect(textOf(join(root, uncore, 'min_freq_khz')).trim()).toBe('800000');
    expect(host['Application Totals']['uncore-frequency (Hz)']).toBe(2.2e9);
    expect(textOf(limit).trim()).toMatch(/^3000000/);
    const limits = host.Regions?.map((region) => [region.region, region['frequency-map']]);
    expect(limits?.toSorted()).toEqual([
      ['A', 1.5e9],
      ['B', 2e9],
    ]);
    // As in GEOPM's reports, an agent's fields are of what is in no region, too.
    expect(host['Unmarked Totals']?.['frequency-map']).toBe(2e9);
    expect(host).toHaveProperty(['Frequency map', '3554254475'], 1.5e9);
  });

  it('and an agent of one’s own is a module', async () => {
    const folder = programFolder("region('a').run(() => sleep(100));");
    writeFileSync(
      join(folder, 'agent.mjs'),
      `let samples = 0;
      export default {
        name: 'counting', help: '', period: 0.01, policy: [{ name: 'STEP', unit: '', help: '' }],
        open: () => ({
          validatePolicy() {}, adjust() {}, sample() { samples++; },
          reportHeader: () => new Map([['Counting', 'yes, it is']]),
          reportHost: () => new Map([['samples counted', samples]]),
          reportRegion: () => new Map([['step', 7]]),
          traceColumns: [{ name: 'SAMPLES', format: 'integer' }],
          trace: (values, at) => { values[at] = samples; },
        }),
      };`,
    );
    const args = [`--geopm-agent=${join(folder, 'agent.mjs')}`, '--geopm-trace=t'];
    const { report, host } = await launched(folder, args);
    expect(report.Agent).toBe('counting');
    expect(report).toHaveProperty('Counting', 'yes, it is');
    expect(host.Regions?.[0].step).toBe(7);
    const lines = textOf(join(folder, `t-${HOST}`))
      .trim()
      .split('\n');
    expect(lines[5].split('|').at(-1)).toBe('SAMPLES');
    expect(Number(lines.at(-1)?.split('|').at(-1))).toBeGreaterThan(3);
  });
});
