/**
 * Types whose numbers come from a vendor's library: against libraries of our own that export the same functions, built
 * here; and recorded trees.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { RawWriter } from 'triscope/formats/tacc';
import { NODE_TYPES, NodeTree } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { OpenTypes } from '../../../dist/node/types/open-types.js';
import { mapFile } from '../../../dist/os/mapped-file.js';
import { openMic } from '../../../dist/os/mic.js';
import { openNvml } from '../../../dist/os/nvml.js';
import { formatSchema } from '../../../src/formats/tacc/schema.ts';
import { collect, folder, machine, missing } from './support.ts';

const CC = spawnSync('cc', ['--version']).status === 0;

function library(name: string, source: string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.c`, source);
  execFileSync('cc', ['-shared', '-fPIC', '-o', path, `${path}.c`]);
  return path;
}

/** Two GPUs; the second one tells no power. */
const NVML = `
#include <stdint.h>
#include <stdlib.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **h) { *h = (void *)(uintptr_t)(i + 1); return 0; }
int nvmlDeviceGetMemoryInfo(void *h, uint64_t *m) {
  m[0] = 85899345920ull; m[2] = 1000ull * (uintptr_t)h; m[1] = m[0] - m[2]; return 0;
}
int nvmlDeviceGetPowerUsage(void *h, unsigned int *p) { if ((uintptr_t)h == 2) return 3; *p = 67250; return 0; }
int nvmlDeviceGetUtilizationRates(void *h, unsigned int *u) { u[0] = 41; u[1] = 12; return 0; }
int nvmlDeviceGetTemperature(void *h, unsigned int sensor, unsigned int *t) { *t = 60 + sensor; return 0; }
int nvmlDeviceGetTotalEccErrors(void *h, unsigned int kind, unsigned int since, uint64_t *n) {
  *n = (1ull << 40) + 10 * kind + since; return 0;
}
/* KiB over all links, sent and received; the second GPU has none. */
struct field { unsigned id, scope; long long time, took; unsigned kind, status; unsigned long long value; };
int nvmlDeviceGetFieldValues(void *h, int n, struct field *f) {
  f->status = f->scope != 0xffffffff || (uintptr_t)h == 2 ? 3 : 0;
  f->value = (1ull << 40) + f->id;
  return 0;
}
/* A sample is the number of its taking; what is told is by how many samples and which metric. */
static int taken;
int nvmlGpmSampleAlloc(void **s) { *s = malloc(sizeof(int)); return 0; }
int nvmlGpmSampleGet(void *h, int *s) { if ((uintptr_t)h == 2) return 3; *s = ++taken; return 0; }
struct metric { unsigned id, status; double value; void *names[3]; };
struct question { unsigned version, count; int *from, *to; struct metric metrics[300]; };
int nvmlGpmMetricsGet(struct question *q) {
  if (q->version != 1) return 25;
  for (unsigned k = 0; k < q->count; k++) {
    q->metrics[k].status = q->metrics[k].id == 5 ? 3 : 0;
    q->metrics[k].value = 10.25 * q->metrics[k].id + (*q->to - *q->from) - 1;
  }
  return 0;
}
int nvmlDeviceSetPersistenceMode(void *h, int mode) { __builtin_trap(); }
`;

/** Card 0: two cores of two threads, told apart, or only the cores; card 1 does not answer. */
const mic = (units: number) => `
#include <stdint.h>
static int card;
int mic_open_device(void **d, uint32_t n) { card = n; *d = &card; return n > 1; }
int mic_close_device(void *d) { return 0; }
int mic_alloc_core_util(void **u) { *u = &card; return 0; }
int mic_free_core_util(void *u) { return 0; }
int mic_update_core_util(void *d, void *u) { return card; }
int mic_get_num_cores(void *u, uint16_t *n) { *n = 2; return 0; }
int mic_get_threads_core(void *u, uint16_t *n) { *n = 2; return 0; }
int mic_get_jiffy_counter(void *u, uint64_t *n) { *n = 1ull << 40; return 0; }
static int fill(uint64_t *to, uint64_t from) { for (int k = 0; k < ${units}; k++) to[k] = from + k; return 0; }
int mic_get_user_counters(void *u, uint64_t *to) { return fill(to, 100); }
int mic_get_nice_counters(void *u, uint64_t *to) { return fill(to, 200); }
int mic_get_sys_counters(void *u, uint64_t *to) { return fill(to, 300); }
int mic_get_idle_counters(void *u, uint64_t *to) { return fill(to, 400); }
`;

describe.skipIf(!CC)('NVML (needs cc)', () => {
  it('is asked for what each GPU says', () => {
    const nvml = openNvml(library('libnvidia-ml.so.1', NVML));
    expect(nvml.count).toBe(2);
    expect(nvml.read(0)).toEqual({
      total: 85899345920n,
      free: 85899344920n,
      used: 1000n,
      power: 67250,
      utilization: 41,
    });
    expect(nvml.read(1)).toMatchObject({ used: 2000n, power: null, utilization: 41 });
    const quantities = (['temperature', 'corrected', 'uncorrected', 'replays'] as const).map(
      (what) => nvml.quantity(0, what),
    );
    // This library has no counter of replays.
    expect(quantities).toEqual([60, 2 ** 40, 2 ** 40 + 10, Number.NaN]);
    const more = (gpu: number) =>
      (
        [
          'sm_active',
          'sm_occupancy',
          'tensor_active',
          'dram_active',
          'nvlink_tx',
          'nvlink_rx',
        ] as const
      ).map((what) => nvml.quantity(gpu, what));
    const link = [2 ** 40 + 138, 2 ** 40 + 139];
    expect(more(0)).toEqual([20.5, 30.75, Number.NaN, 102.5, ...link]);
    // From the sample before: one sample on again.
    expect(more(0)).toEqual([20.5, 30.75, Number.NaN, 102.5, ...link]);
    expect(more(1)).toEqual(new Array(6).fill(Number.NaN));
    nvml.close();
  });

  it('says why it cannot be had', () => {
    expect(() => openNvml(join(folder, 'none.so'))).toThrow('none.so');
    const broken = library(
      'broken.so',
      NVML.replace('nvmlInit_v2(void) { return 0', 'nvmlInit_v2(void) { return 9'),
    );
    expect(() => openNvml(broken)).toThrow('NVML cannot be initialized: status 9');
  });
});

describe('nvidia_gpu', () => {
  const gpu = (power: string) =>
    `memtotal 85899345920\nmemfree 85899344920\nmemused 1000\n${power}utilization 41\n`;

  it('archives memory, power and utilisation of each GPU', () => {
    const root = machine({
      files: { 'nvml/0': gpu('power 67250\n'), 'nvml/10': gpu('power 7\n') },
    });
    expect(collect(root, ['nvidia_gpu'])).toMatchObject({
      schemas: ['!nvidia_gpu memtotal,U=B memfree,U=B memused,U=B power,U=mW utilization'],
      records: [
        'nvidia_gpu 0 85899345920 85899344920 1000 67250 41',
        'nvidia_gpu 1 85899345920 85899344920 1000 7 41',
      ],
    });
  });

  it('has no key for what no GPU tells', () => {
    const root = machine({ files: { 'nvml/0': gpu('') } });
    expect(collect(root, ['nvidia_gpu'])).toMatchObject({
      schemas: ['!nvidia_gpu memtotal,U=B memfree,U=B memused,U=B utilization'],
      records: ['nvidia_gpu 0 85899345920 85899344920 1000 41'],
    });
  });

  it('has the keys that GPUs tell where a child process asks, which tells them first: none is 0', () => {
    const root = machine({
      files: {
        'nvml/0': `${gpu('')}temperature 61\n`,
        // It has fallen off the bus.
        'nvml/1': '',
      },
    });
    // As on a machine with a driver.
    const types = NODE_TYPES.filter(({ name }) => name.startsWith('nvidia_gpu')).map((type) => ({
      ...type,
      mayBlock: () => true,
    }));
    let text = '';
    const sink = (bytes: Uint8Array) => {
      text += Buffer.from(bytes).toString();
    };
    const open = new OpenTypes(types, new NodeTree(root), { deadline: 20_000 });
    const schemas = open.schemas();
    const writer = new RawWriter({ hostname: '-', uname: '', uptime: 0, schemas }, sink);
    open.collect(writer, ({ type, reason }) => expect([type, reason]).toEqual([]));
    writer.flush();
    open.close();
    expect(schemas.map((schema) => formatSchema(schema))).toEqual([
      '!nvidia_gpu memtotal,U=B memfree,U=B memused,U=B utilization',
      '!nvidia_gpu_state temperature,U=Cel',
    ]);
    expect(open.absent).toContainEqual({
      type: 'nvidia_gpu_ecc',
      reason: 'NVML reports this for no GPU',
    });
    expect(text).toBe('nvidia_gpu 0 85899345920 85899344920 1000 41\nnvidia_gpu_state 0 61\n');
  });

  it('is not there without a GPU', () => {
    expect(missing(machine({}), 'nvidia_gpu')).toBe('NVML reports this for no GPU');
  });
});

describe.skipIf(!CC)('libmicmgmt (needs cc)', () => {
  it('is asked for the accounts of each thread, or of each core where it tells no more', () => {
    for (const units of [4, 2]) {
      const card = openMic(0, library(`libmic${units}.so`, mic(units)));
      const state = card.read();
      expect(state).toMatchObject({ cores: 2, threadsPerCore: 2, jiffies: 1n << 40n });
      expect([...state.user]).toEqual([100n, 101n, 102n, 103n].slice(0, units));
      expect([...state.idle]).toEqual([400n, 401n, 402n, 403n].slice(0, units));
      card.close();
    }
  });

  it('says which card does not answer', () => {
    const path = library('libmic-gone.so', mic(4));
    const card = openMic(1, path);
    expect(() => card.read()).toThrow('mic1: reading failed with status 1');
    card.close();
    expect(() => openMic(2, path)).toThrow('mic2: opening failed with status 1');
  });
});

describe('mic', () => {
  const CARD = '2 2 1099511627776\n1 2 3 4\n5 6 7 8\n9 10 11 12\n13 14 15 18446744073709551614\n';

  it('archives each hardware thread of the cards that are online', () => {
    const root = machine({
      files: {
        'sys/class/mic/mic0/state': 'online\n',
        'sys/class/mic/mic1/state': 'resetting\n',
        'mic/mic0': CARD,
      },
    });
    expect(collect(root, ['mic'])).toMatchObject({
      schemas: [
        '!mic num_cores,C threads_core,C user_sum,E,U=cs nice_sum,E,U=cs sys_sum,E,U=cs idle_sum,E,U=cs jiffy_counter,E,U=cs',
      ],
      records: [
        'mic 0/0 2 2 1 2 3 4 1099511627776',
        'mic 0/1 2 2 5 6 7 8 1099511627776',
        'mic 0/2 2 2 9 10 11 12 1099511627776',
        'mic 0/3 2 2 13 14 15 18446744073709551614 1099511627776',
      ],
    });
  });

  it('is not there without a card, and says what is wrong with a recorded one', () => {
    expect(missing(machine({}), 'mic')).toBe('no card is online in /sys/class/mic');
    const root = machine({
      files: { 'sys/class/mic/mic0/state': 'online\n', 'mic/mic0': '2 2\n' },
    });
    expect(missing(root, 'mic')).toContain('mic/mic0: not a line of 3 numbers');
  });
});

describe.skipIf(process.platform !== 'linux')('memory-mapped registers', () => {
  it('are read 32 bits at a time, and written through', () => {
    const path = join(folder, 'memory');
    const bytes = Buffer.alloc(3 * 4096);
    bytes.writeUInt32LE(0xfeedc0de, 4096 + 0x400);
    writeFileSync(path, bytes);
    const map = mapFile(path, 4096, 4096);
    expect(map.words.length).toBe(1024);
    expect(map.words[0x400 >> 2]).toBe(0xfeedc0de);
    const writer = mapFile(path, 4096, 4096, true);
    writer.words[0x404 >> 2] = 7;
    writer.close();
    expect(map.words[0x404 >> 2]).toBe(7);
    map.close();
    expect(() => mapFile(join(folder, 'no-memory'), 0, 4096)).toThrow('ENOENT');
  });

  it('of Knights Landing are found at the address that ACPI tells', () => {
    // From 10000h on, bus ffh, device 08h, function 2: 10000h + ff42000h.
    const table = Buffer.alloc(60);
    table.writeBigUInt64LE(0x10000n, 44);
    const root = machine({
      processor: ['GenuineIntel', 6, 0x57],
      cpus: [[0, 0]],
      files: { 'sys/firmware/acpi/tables/MCFG': table, 'dev/mem': '' },
    });
    const space = Buffer.alloc(4096);
    space.writeUInt32LE(0x78418086, 0);
    space.writeUInt32LE(1, 0xd8);
    space.writeBigUInt64LE(281474976710655n, 0xa0);
    // A hole of 255 MB before it.
    const file = openSync(join(root, 'dev/mem'), 'r+');
    writeSync(file, space, 0, space.length, 0x10000 + 0xff42000);
    closeSync(file);
    expect(collect(root, ['intel_knl_mc']).records).toEqual([
      'intel_knl_mc ff/08.2 1 0 0 0 281474976710655 0 0 0',
    ]);
  });
});
