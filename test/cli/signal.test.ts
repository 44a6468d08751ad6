import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tree, TWO_BY_TWO } from '../region/signals/support/tree.ts';
import { type Call, temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const ZONE = 'sys/class/powercap/intel-rapl:0';
const tree = () =>
  new Tree({
    ...TWO_BY_TWO,
    'proc/loadavg': '0.50 1.25 2.00 1/206 1500',
    [`${ZONE}/name`]: 'package-0',
    [`${ZONE}/energy_uj`]: 2_500_000,
    [`${ZONE}/constraint_0_name`]: 'long_term',
    [`${ZONE}/constraint_0_power_limit_uw`]: 95_000_000,
  });

const signal = (args: string[], call?: Call) =>
  call === undefined ? triscopeHere(['signal', ...args]) : triscope(['signal', ...args], call);

describe('signal list', () => {
  it('lists what the machine has, as text and as JSON', async () => {
    const { root } = tree();
    const text = await signal(['list', '--root', root]);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(/^POWERCAP::PACKAGE_ENERGY +package +J +monotone +sum +CPU_ENERGY$/m);
    const json = await signal(['list', '--root', root, '--json']);
    const listed = JSON.parse(json.out) as Record<string, unknown>[];
    expect(listed.find((one) => one.signal === 'POWERCAP::PACKAGE_ENERGY')).toEqual({
      signal: 'POWERCAP::PACKAGE_ENERGY',
      domain: 'package',
      count: 2,
      unit: 'J',
      behaviour: 'monotone',
      aggregation: 'sum',
      format: 'double',
      provider: 'powercap',
      aliases: ['CPU_ENERGY'],
      description: expect.any(String),
    });
    expect(json.out).not.toContain('SYNTHETIC');
  });

  it('describes one, by any of its names', async () => {
    const { root } = tree();
    const one = JSON.parse((await signal(['list', 'CPU_ENERGY', '--root', root, '--json'])).out);
    expect(one).toMatchObject([{ signal: 'POWERCAP::PACKAGE_ENERGY', aliases: ['CPU_ENERGY'] }]);
    const both = await signal(['list', 'TIME::ELAPSED', '--root', root]);
    expect(both.out).toContain('The same as TIME');
    expect((await signal(['list', 'CPU_ENERGI', '--root', root])).code).toBe(2);
    expect((await signal(['list', 'GPU_ENERGY', '--root', root])).code).toBe(1);
    expect((await signal(['list', 'TIME', '--domains', '--root', root])).code).toBe(2);
  });

  it('lists domains and controls', async () => {
    const { root } = tree();
    const domains = JSON.parse((await signal(['list', '--domains', '--root', root, '--json'])).out);
    expect(domains).toContainEqual({ domain: 'core', count: 4 });
    expect((await signal(['list', '--controls', '--root', root])).out).toContain(
      'CPU_POWER_LIMIT_CONTROL',
    );
  });
});

describe('signal read', () => {
  it('prints one value', async () => {
    const { root } = tree();
    const words = ['read', 'CPU_ENERGY', 'package', '0', '--root', root];
    expect(await signal(words)).toMatchObject({ code: 0, out: '2.5\n', err: '' });
    expect(JSON.parse((await signal([...words, '--json'])).out)).toEqual({
      signal: 'CPU_ENERGY',
      domain: 'package',
      index: 0,
      value: 2.5,
      unit: 'J',
    });
  });

  it('says nan of what is not there now, and fails', async () => {
    const words = ['read', 'CPU_ENERGY', 'package', '1', '--root', tree().root];
    expect(await signal(words)).toMatchObject({ code: 1, out: 'nan\n' });
  });

  it.each([
    [['CPU_ENRGY', 'board', '0'], 2, 'there is no signal CPU_ENRGY; did you mean CPU_ENERGY?'],
    [
      ['GPU_ENERGY', 'board', '0'],
      1,
      'GPU_ENERGY is not available on this machine; it would come from drm: ',
    ],
    [['CPU_ENERGY', 'cpu', '0'], 2, 'domain cpu is not valid for CPU_ENERGY'],
    [['CPU_ENERGY', 'pakage', '0'], 2, 'did you mean package?'],
    [['CPU_ENERGY', 'package', '2'], 2, 'there is no package 2; this machine has 2'],
    [['CPU_ENERGY', 'package', '-1x'], 2, ''],
    [['CPU_ENERGY', 'package'], 2, 'usage: triscope signal read'],
    [['TIME', 'board', '0', '--root', '/no/such'], 2, 'there is no such folder'],
  ])('refuses %j with code %d', async (words, code, message) => {
    const at = words.includes('--root') ? [] : ['--root', tree().root];
    const outcome = await signal(['read', ...words, ...at]);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.err).toContain(message);
    expect(outcome.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says which file of constants is wrong, with code 3', async () => {
    const { root } = new Tree({ 'etc/geopm/const_config_io.json': '{' });
    const outcome = await signal(['read', 'TIME', 'board', '0', '--root', root]);
    expect(outcome.code).toBe(3);
    expect(outcome.err).toContain('const_config_io.json');
  });
});

describe('signal write', () => {
  it('needs permission, writes, and says what was there', async () => {
    const own = tree();
    const path = `${ZONE}/constraint_0_power_limit_uw`;
    const words = ['write', 'CPU_POWER_LIMIT_CONTROL', 'package', '0', '60', '--root', own.root];
    const refused = await signal(words);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('--allow-control');
    expect(own.text(path)).toBe('95000000');
    const done = await signal([...words, '--allow-control', '--json']);
    expect(JSON.parse(done.out).before).toEqual([{ path: own.path(path), text: '95000000' }]);
    expect(own.text(path)).toBe('60000000');
  });

  it('refuses what is no control, and what is no number', async () => {
    const words = ['write', 'CPU_POWER_LIMIT_CONTRL', 'package', '0', '60', '--allow-control'];
    const outcome = await signal([...words, '--root', tree().root]);
    expect(outcome.code).toBe(2);
    expect(outcome.err).toContain('did you mean CPU_POWER_LIMIT_CONTROL?');
    words.splice(1, 4, 'CPU_POWER_LIMIT_CONTROL', 'package', '0', 'much');
    expect((await signal([...words, '--root', tree().root])).code).toBe(2);
  });
});

/** Does `what` once a file has some rows. */
function onceThere(path: string, what: () => void): void {
  const poll = setInterval(() => {
    const rows = existsSync(path) && readFileSync(path, 'utf8');
    if (!rows || rows.split('\n').length < 4) return;
    clearInterval(poll);
    what();
  }, 20);
}

describe('signal watch', () => {
  const requests = '# energies\nTIME board 0\nCPU_ENERGY package *\n\nNOT READ';

  it('prints a row per sample: ⌈time / period⌉ + 1 of them', async () => {
    const outcome = await signal(['watch', '-t', '0.35', '-p', '0.1', '--synthetic'], {
      input: 'TIME board 0\nCPU_ENERGY package *\n',
    });
    expect(outcome.code).toBe(0);
    const [header, ...rows] = outcome.out.trimEnd().split('\n');
    expect(header).toMatch(/^"TIME","CPU_ENERGY-package-0"/);
    expect(rows).toHaveLength(5);
    const times = rows.map((row) => Number(row.split(',')[0]));
    expect([...times].sort((a, b) => a - b)).toEqual(times);
  });

  it('takes one sample without a period, and stops reading at an empty line', async () => {
    const outcome = await signal(['watch', '-n', '-d', ';', '--root', tree().root], {
      input: requests,
    });
    expect(outcome.code).toBe(0);
    expect(outcome.out).toMatch(/^[\d.]+;2\.5;nan\n$/);
  });

  it('starts at an empty line, though standard input stays open', async () => {
    const outcome = await signal(['watch', '--root', tree().root], {
      input: undefined,
      meanwhile: () => {},
    });
    expect(outcome).toMatchObject({ code: 2 });
    expect(outcome.err).toContain('no requests');
    const bin = new URL('../../bin/triscope', import.meta.url).pathname;
    const child = spawn(process.execPath, [bin, 'signal', 'watch'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.write('TIME board 0\n\n');
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(0);
  });

  it('writes rows and periodic reports to files', async () => {
    const cwd = temporaryFolder();
    const words = ['watch', '-t', '0.5', '-p', '0.1', '-s', '2', '-o', 'rows.csv', '-r', 'report'];
    const outcome = await signal([...words, '--root', tree().root], { cwd, input: requests });
    expect(outcome).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(join(cwd, 'rows.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(7);
    const documents = readFileSync(join(cwd, 'report'), 'utf8').split('\n---\n\n');
    const counts = documents.map((text) => /sample-count: (\d+)/.exec(text)?.[1]);
    expect(counts).toEqual(['3', '2', '1']);
  });

  it('prints rows and reports as JSON', async () => {
    const words = ['watch', '--json', '-t', '0.1', '-p', '0.1', '-r', '-', '--root', tree().root];
    const { code, out } = await signal(words, { input: 'CPU_ENERGY board 0\nTIME board 0\n' });
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.CPU_ENERGY)).toEqual([2.5, 2.5, undefined]);
    expect(lines[2]).toMatchObject({ 'sample-count': 2, metrics: { CPU_ENERGY: { mean: 2.5 } } });
  });

  it('ends with the process that it watches', async () => {
    const cwd = temporaryFolder();
    const watched = spawn('sleep', ['60']);
    const words = ['watch', '-p', '0.05', '--pid', String(watched.pid), '-o', 'rows'];
    const outcome = await signal(words, {
      cwd,
      input: 'TIME board 0\n',
      meanwhile: () => onceThere(join(cwd, 'rows'), () => watched.kill()),
    });
    expect(outcome.code).toBe(0);
    // On a busy machine it may say so.
    expect(outcome.err).toMatch(/^(triscope: \d+ samples came more than a period late.*\n)?$/);
  });

  it('ends at Ctrl-C with its report written', async () => {
    const cwd = temporaryFolder();
    const words = ['watch', '-t', '600', '-p', '0.05', '-r', 'report', '-o', 'rows'];
    const outcome = await signal(words, {
      cwd,
      input: 'TIME board 0\n',
      meanwhile: (child) => {
        onceThere(join(cwd, 'rows'), () => child.kill('SIGINT'));
      },
    });
    expect(outcome.code).toBe(130);
    expect(readFileSync(join(cwd, 'report'), 'utf8')).toMatch(/^sample-count: \d/m);
  });

  it('shows the last sample as OpenMetrics', async () => {
    const words = [
      'watch',
      '-p',
      '0.05',
      '--metrics',
      '0',
      '-o',
      '/dev/null',
      '--root',
      tree().root,
    ];
    let text: Promise<{ type: string | null; body: string; stranger: number }> | undefined;
    await signal(words, {
      input: 'CPU_ENERGY package *\nPROC::LOAD_1M board 0\nCPU_ENERGY package 0\n',
      meanwhile: (child) => {
        child.stderr?.on('data', (data) => {
          const [url] = /http:\S+/.exec(String(data)) ?? [];
          if (url === undefined || text !== undefined) return;
          text = (async () => {
            let body = '';
            let type: string | null = null;
            while (!body.includes('_total{')) {
              const response = await fetch(url);
              type = response.headers.get('content-type');
              body = await response.text();
            }
            const stranger = await fetch(url, { headers: { origin: 'http://evil.example' } });
            child.kill('SIGINT');
            return { type, body, stranger: stranger.status };
          })();
        });
      },
    });
    const answer = await text;
    expect(answer?.type).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
    expect(answer?.stranger).toBe(403);
    expect(answer?.body).toContain('# TYPE triscope_cpu_energy_joules counter\n');
    expect(answer?.body).toContain(
      'triscope_cpu_energy_joules_total{domain="package",index="0"} 2.5\n',
    );
    expect(answer?.body).not.toContain('{domain="package",index="1"}');
    expect(answer?.body).toContain('triscope_proc_load_1m{domain="board",index="0"} 0.5\n');
    expect(answer?.body).toMatch(/# EOF\n?$/);
  });

  it.each([
    [['-p', '2', '-t', '1'], 'TIME board 0\n', 'is longer than --time'],
    [['-p', '1'], 'TIME board 0\n', 'needs --pid or --metrics'],
    [
      ['-p', 'often', '-t', '1'],
      'TIME board 0\n',
      '--period=often: must be a finite number from 0 to 86400',
    ],
    [['-f', 'xml'], 'TIME board 0\n', 'must be one of yaml, csv, json'],
    [['-o', '/no/such/folder/rows'], 'TIME board 0\n', 'cannot write /no/such/folder/rows'],
    [['--pid', '2000000000', '-p', '1'], 'TIME board 0\n', 'there is no such process'],
    [[], 'TIME board 0\nTIME\n', "requests, line 2: 'TIME' is not SIGNAL DOMAIN INDEX"],
    [[], 'TYME board 0\n', 'did you mean TIME?'],
    [[], '', 'no requests'],
    [['TIME'], '', 'unexpected TIME; signal watch takes only options'],
  ])('refuses %j given %j', async (words, input, message) => {
    const outcome = await signal(['watch', ...words], { input });
    expect(outcome).toMatchObject({ code: 2, out: '' });
    expect(outcome.err).toContain(message);
  });
});

describe('NVIDIA’s library', () => {
  const source = `
#include <string.h>
typedef int R; typedef void *D; typedef unsigned U;
R nvmlInit_v2(void) { return 0; }
R nvmlShutdown(void) { return 0; }
R nvmlDeviceGetCount_v2(U *n) { *n = 2; return 0; }
R nvmlDeviceGetHandleByIndex_v2(U k, D *d) { *d = (D)(unsigned long)(k + 1); return 0; }
R nvmlDeviceGetMemoryInfo(D d, unsigned long long *m) { return 3; }
R nvmlDeviceGetPowerUsage(D d, U *mw) { *mw = 75500 * (U)(unsigned long)d; return 0; }
R nvmlDeviceGetUtilizationRates(D d, U *p) { p[0] = 40; p[1] = 10; return 0; }
R nvmlDeviceGetTotalEnergyConsumption(D d, unsigned long long *mj) { *mj = 5000000000500ULL; return 0; }
R nvmlDeviceGetTemperature(D d, U sensor, U *c) { *c = 61 + sensor; return 0; }
R nvmlDeviceGetClockInfo(D d, U which, U *mhz) { *mhz = which == 1 ? 1410 : 1; return (unsigned long)d == 2; }
`;

  it('tells of its GPUs; what it does not know is absent', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'nvml.c'), source);
    const library = join(folder, 'nvml.so');
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(folder, 'nvml.c')]);
    const read = async (...words: string[]) =>
      (await signal(['read', ...words], { env: { TRISCOPE_NVML: library } })).out.trim();
    expect(await read('GPU_ENERGY', 'gpu', '0')).toBe('5000000000.5');
    expect(await read('GPU_POWER', 'board', '0')).toBe('226.5');
    expect(await read('GPU_TEMPERATURE', 'gpu', '1')).toBe('61');
    expect(await read('GPU_UTILIZATION', 'board', '0')).toBe('0.4');
    expect(await read('GPU_CORE_FREQUENCY_STATUS', 'gpu', '0')).toBe('1410000000');
    expect(await read('GPU_CORE_FREQUENCY_STATUS', 'gpu', '1')).toBe('nan');
    expect(await read('GPU_POWER_LIMIT', 'gpu', '0')).toBe('');
  });
});
