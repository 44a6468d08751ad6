/** Controls of NVIDIA's GPUs, against a library of our own that exports NVML's functions and notes what is asked of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Platform } from 'triscope/signals';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CPUS, launched, programFolder, tree } from './support/region.ts';
import { temporaryFolder, triscope } from './support/run.ts';

/** GPU 0 knows three clocks of each kind; GPU 1, which root alone may change, none. The log has a line for each change. */
const SOURCE = `
#include <stdio.h>
#include <stdlib.h>
typedef int R; typedef unsigned long D; typedef unsigned U;
static R note(const char *what, D d, U a, U b) {
  FILE *file = fopen(getenv("NVML_LOG"), "a");
  fprintf(file, "%s %lu %u %u\\n", what, d - 1, a, b);
  fclose(file);
  return 0;
}
R nvmlInit_v2(void) { return 0; }
R nvmlShutdown(void) { return 0; }
R nvmlDeviceGetCount_v2(U *n) { *n = getenv("NVML_GPUS") ? 1 : 2; return 0; }
R nvmlDeviceGetHandleByIndex_v2(U k, void **d) { *d = (void *)(D)(k + 1); return 0; }
R nvmlDeviceGetMemoryInfo(D d, unsigned long long *m) { return 3; }
R nvmlDeviceGetPowerUsage(D d, U *mw) { *mw = 75500; return 0; }
R nvmlDeviceGetUtilizationRates(D d, U *p) { p[0] = 40; return 0; }
R nvmlDeviceGetUUID(D d, char *text, U length) { return snprintf(text, length, "GPU-c0ffee0%lu-1", d - 1) < 0; }
R nvmlDeviceGetMaxClockInfo(D d, U kind, U *mhz) { *mhz = kind == 1 ? 1980 : 2619; return d == 2 && kind == 2 ? 3 : 0; }
R nvmlDeviceGetSupportedMemoryClocks(D d, U *n, U *mhz) {
  if (d == 2 || *n < 3) return 3;
  mhz[0] = 2619; mhz[1] = 1593; mhz[2] = 810; *n = 3;
  return 0;
}
R nvmlDeviceGetSupportedGraphicsClocks(D d, U memory, U *n, U *mhz) {
  if (d == 2 || memory != 2619) return 3;
  mhz[0] = 1980; mhz[1] = 900; mhz[2] = 345; *n = 3;
  return 0;
}
R nvmlDeviceGetPowerManagementLimit(D d, U *mw) { *mw = 700000; return d == 2 ? 3 : 0; }
R nvmlDeviceSetPowerManagementLimit(D d, U mw) { return note("power", d, mw, 0); }
R nvmlDeviceSetGpuLockedClocks(D d, U least, U most) {
  if (d == 2) return 4;
  return least > most || most > 1980 ? 2 : note("lock", d, least, most);
}
R nvmlDeviceResetGpuLockedClocks(D d) { return d == 2 ? 4 : note("unlock", d, 0, 0); }
R nvmlDeviceSetMemoryLockedClocks(D d, U least, U most) { return note("lock memory", d, least, most); }
R nvmlDeviceResetMemoryLockedClocks(D d) { return note("unlock memory", d, 0, 0); }
`;

describe.skipIf(spawnSync('cc', ['--version']).status !== 0)(
  'controls of NVIDIA GPUs (need cc)',
  () => {
    const folder = temporaryFolder();
    const [library, log] = [join(folder, 'nvml.so'), join(folder, 'log')];
    const env = { TRISCOPE_NVML: library, NVML_LOG: log };
    const notes = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);

    beforeAll(() => {
      writeFileSync(join(folder, 'nvml.c'), SOURCE);
      execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, join(folder, 'nvml.c')]);
      Object.assign(process.env, env);
    });
    afterAll(() => {
      for (const name of Object.keys(env)) delete process.env[name];
    });
    beforeEach(() => rmSync(log, { force: true }));

    it('lock a clock between both ends, and give all back as it was', () => {
      const platform = Platform.open({ allowControl: true });
      const { controls } = platform;
      const read = (name: string, gpu: number) => platform.read(name, 'gpu_chip', gpu);
      expect([0, 1].map((gpu) => read('GPU_CORE_FREQUENCY_MAX_AVAIL', gpu))).toEqual([
        1.98e9, 1.98e9,
      ]);
      expect(read('GPU_CORE_FREQUENCY_MIN_AVAIL', 0)).toBe(3.45e8);
      expect(read('GPU_CORE_FREQUENCY_MIN_AVAIL', 1)).toBeNaN();
      controls.write('GPU_CORE_FREQUENCY_MAX_CONTROL', 'gpu_chip', 0, 1.2e9);
      controls.write('GPU_CORE_FREQUENCY_MIN_CONTROL', 'gpu_chip', 0, 9e8);
      // The other end moves out of the way.
      controls.write('NVML::GPU_CORE_FREQUENCY_MAX_CONTROL', 'gpu_chip', 0, 6e8);
      controls.write('NVML::GPU_MEMORY_FREQUENCY_MIN_CONTROL', 'gpu_chip', 0, 1.593e9);
      controls.write('GPU_POWER_LIMIT_CONTROL', 'gpu', 0, 450.5);
      expect(notes()).toEqual([
        ...['lock 0 345 1200', 'lock 0 900 1200', 'lock 0 600 600'],
        ...['lock memory 0 1593 2619', 'power 0 450500 0'],
      ]);
      const uuid = 'nvml/GPU-c0ffee00-1';
      const saved = controls.saved();
      expect(saved).toEqual([
        { path: `${uuid}/core-frequency-most`, text: '0' },
        { path: `${uuid}/core-frequency-least`, text: '0' },
        { path: `${uuid}/memory-frequency-least`, text: '0' },
        { path: `${uuid}/power-limit`, text: '700000' },
      ]);
      rmSync(log);
      controls.restore();
      expect(notes()).toEqual([
        ...['power 0 700000 0', 'unlock memory 0 0 0'],
        ...['lock 0 345 600', 'unlock 0 0 0'],
      ]);
      platform.close();
    });

    it('say why not', () => {
      const platform = Platform.open({ allowControl: true });
      const { controls } = platform;
      const write = (name: string, gpu: number, value: number) => () =>
        controls.write(name, 'gpu_chip', gpu, value);
      const most = 'GPU_CORE_FREQUENCY_MAX_CONTROL';
      expect(write(most, 1, 1e9)).toThrow(
        'cannot write 1000 to nvml/GPU-c0ffee01-1/core-frequency-most: NVML permits it to root only',
      );
      expect(write(most, 0, 5e9)).toThrow('NVML refuses the value');
      expect(write(most, 0, 0)).toThrow(`NVML::${most}: 0 Hz is not above 0`);
      const memory = 'NVML::GPU_MEMORY_FREQUENCY_MAX_CONTROL';
      expect(write(memory, 1, 1e9)).toThrow('there is no gpu_chip 1 with this control');
      expect(notes()).toEqual([]);
      platform.close();
    });

    it('are put back by region restore, and nothing else that a file names', async () => {
      const path = join(folder, 'saved.json');
      const settings = [
        { path: 'nvml/GPU-c0ffee00-1/core-frequency-most', text: '0' },
        { path: 'nvml/GPU-c0ffee00-1/power-limit', text: '650000' },
        { path: 'nvml/GPU-else/power-limit', text: '1' },
      ];
      writeFileSync(
        path,
        JSON.stringify({ version: 1, pid: 2 ** 22 + 1, host: hostname(), settings }),
      );
      const { code, err } = await triscope(['region', 'restore', path], { env });
      expect(code).toBe(1);
      expect(err).toContain('nvml/GPU-else/power-limit: not a setting that Triscope changes');
      expect(notes()).toEqual(['power 0 650000 0', 'unlock 0 0 0']);
    });

    it('are beside those of another maker, GPU by GPU', () => {
      const most = 'sys/class/drm/card0/gt/gt0/rps_max_freq_mhz';
      const root = tree({ [most]: '1300' });
      const platform = Platform.open({ root, allowControl: true });
      const write = (chip: number) =>
        platform.controls.write('GPU_CORE_FREQUENCY_MAX_CONTROL', 'gpu_chip', chip, 9e8);
      for (const chip of [0, 1]) write(chip);
      expect(readFileSync(join(root, most), 'utf8').trim()).toBe('900');
      expect(notes()).toEqual(['lock 0 345 900']);
      platform.controls.restore();
      expect(readFileSync(join(root, most), 'utf8').trim()).toBe('1300');
      expect(notes()[1]).toBe('unlock 0 0 0');
      platform.close();
    });

    it('follow frequency_map, and are put back at the end', async () => {
      const cpus = 'sys/devices/system/cpu/cpufreq/policy0';
      const root = tree({
        ...CPUS,
        [`${cpus}/affected_cpus`]: '0 1',
        [`${cpus}/scaling_cur_freq`]: '2000000',
        [`${cpus}/scaling_max_freq`]: '3000000',
        [`${cpus}/scaling_min_freq`]: '1000000',
        [`${cpus}/cpuinfo_max_freq`]: '3000000',
        [`${cpus}/cpuinfo_min_freq`]: '1000000',
      });
      const place = programFolder(`
      import { existsSync, readFileSync } from 'node:fs';
      const log = process.env.NVML_LOG;
      region('a').run(() => until(() => existsSync(log) && readFileSync(log, 'utf8').includes('1500 1500')));`);
      const policy = { FREQ_CPU_DEFAULT: 2e9, FREQ_GPU_DEFAULT: 1.5e9 };
      writeFileSync(join(place, 'policy.json'), JSON.stringify(policy));
      const words = [
        '--geopm-agent=frequency_map',
        '--geopm-policy=policy.json',
        '--allow-control',
      ];
      const one = { ...env, XDG_STATE_HOME: join(place, 'state'), NVML_GPUS: '1' };
      const options = [...words, '--root', root];
      const { err } = await launched(place, options, undefined, { env: one });
      expect(err).toBe('');
      expect(notes()).toEqual([
        ...['lock 0 1500 1980', 'lock 0 1500 1500'],
        ...['lock 0 1500 1980', 'unlock 0 0 0'],
      ]);
    });
  },
);
