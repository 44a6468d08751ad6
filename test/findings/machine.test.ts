/** Findings about regions, energy and jobs on their hosts: made to fire, and made to keep silent. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { rulesText } from '../../src/findings/docs.ts';
import { FINDINGS } from '../../src/findings/index.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { SIM_THREAD } from '../../src/model/schemas/sim.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { CPU, MEM, NET } from './job/support/archive.ts';
import { findingsAt, newPath, peSamples, removeFolder, said } from './support/findings.ts';
import { ALIGNED, cpi, INTEL, jobAt, report, reportText, user } from './support/machine.ts';

afterAll(removeFolder);

describe('region-alignment', () => {
  it('fires where CPUs are not in a region together', async () => {
    const late = { name: 'exchange', runtime: 2, sync: 1.2, joules: 100 };
    expect(said(await findingsAt(report([ALIGNED, late]), 'region-alignment'))).toEqual([
      'problem: Region exchange on h1 takes 2 s, but all CPUs are in it together for only 1.2 s: for 40 % of its time, some are elsewhere.',
    ]);
  });

  it('keeps silent where they are, and of regions too short to sample', async () => {
    const short = { name: 'short', runtime: 0.2, sync: 0.05, joules: 1 };
    expect(await findingsAt(report([ALIGNED, short]), 'region-alignment')).toEqual([]);
  });
});

describe('energy', () => {
  it('by region: where most went, and what was burnt in waiting', async () => {
    const wait = { name: 'wait', runtime: 2, sync: 2, joules: 100, network: 1.9 };
    expect(said(await findingsAt(report([ALIGNED, wait]), 'energy-per-region'))).toEqual([
      'notice: 100 J (20 %) went into region wait on h1, where programs mostly wait.',
      'info: 500 J: most in region solve on h1, 400 J (80 %) at 103 W.',
    ]);
    expect(await findingsAt(report([{ ...ALIGNED, joules: 0 }]), 'energy-per-region')).toEqual([]);
  });

  it('by committed event: of a simulation with a region report beside it', async () => {
    const samples = peSamples({ events_processed: 125, events_rolled_back: 25 });
    const files = { 'recording.json': recordingOf(), 'extra.frames': framesOf(samples) };
    const path = writeFolder(newPath('.tri'), {
      ...files,
      'run.report': reportText([{ ...ALIGNED, joules: 50 }]),
    });
    expect(said(await findingsAt(path, 'energy-per-event'))).toEqual([
      'info: A committed event took 50,000 µJ: 50 J by the region report for 1,000 events.',
    ]);
    expect(await findingsAt(writeFolder(newPath('.tri'), files), 'energy-per-event')).toEqual([]);
  });
});

describe('low-frequency', () => {
  it('fires below the nominal frequency, and keeps silent at it', async () => {
    expect(said(await findingsAt(report([ALIGNED], 60), 'low-frequency'))).toEqual([
      'problem: h1 ran at 60 % of its nominal frequency (1.2 GHz).',
    ]);
    expect(await findingsAt(report([ALIGNED], 105), 'low-frequency')).toEqual([]);
  });
});

describe('jobs', () => {
  it('high-cpi: many cycles for each instruction', async () => {
    const [found] = await findingsAt(cpi(100, 200), 'high-cpi');
    expect(said([found])).toEqual([
      'notice: Job 7: its processors took 2 cycles for each instruction, on host a.',
    ]);
    expect(found.evidence).toMatchObject({
      formula: 'avg_cpi = ΔCLOCKS_UNHALTED_CORE / ΔINSTRUCTIONS_RETIRED',
      rows: [{ value: 200 }, { value: 100 }],
    });
    expect(await findingsAt(cpi(200, 100), 'high-cpi')).toEqual([]);
  });

  it('memory-bound: traffic near the peak of the processors', async () => {
    const IMC = '!intel_snb_imc CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48';
    const [reads, writes] = [0x400304, 0x400c04];
    const at = (lines: number) =>
      jobAt([INTEL, IMC], {
        a: [0, lines].map((n) => [
          'intel_snb 0 0 0 0 0 0 0 0',
          `intel_snb_imc 0 ${reads} ${writes} ${n} 0`,
        ]),
      });
    // 64 B × lines / (60 s × 76e9 B/s).
    expect(said(await findingsAt(at(6e10), 'memory-bound'))).toEqual([
      'notice: Job 7: memory traffic reached 84 % of the peak bandwidth, on host a.',
    ]);
    expect(await findingsAt(at(1e10), 'memory-bound')).toEqual([]);
  });

  it('idle-nodes: a host that does nothing', async () => {
    const path = jobAt([CPU], { a: user(0, 6000, 12000), b: user(0, 0, 1) });
    expect(said(await findingsAt(path, 'idle-nodes'))).toEqual([
      'problem: Job 7: 1 of 2 hosts did nothing while others worked (b; 100 % behind the busiest).',
    ]);
    const even = jobAt([CPU], { a: user(0, 6000), b: user(0, 5000) });
    expect(await findingsAt(even, 'idle-nodes')).toEqual([]);
  });

  it('wrong-interconnect: messages over Ethernet, and a fabric that hardly anybody uses', async () => {
    const IB = '!ib_ext port_xmit_data,E,U=B port_rcv_data,E,U=B';
    const at = (ethernet: number, fabric: number) =>
      jobAt([NET, IB], {
        a: [0, 1].map((k) => [`net eth0 ${k * ethernet} 0`, `ib_ext mlx4_0/1 ${k * fabric} 0`]),
      });
    expect(said(await findingsAt(at(3e9, 6e7), 'wrong-interconnect'))).toEqual([
      'problem: Job 7: 50 MB/s of each host went over Ethernet, 1 MB/s over the fabric, on host a.',
    ]);
    expect(await findingsAt(at(3e7, 6e9), 'wrong-interconnect')).toEqual([]);
  });

  it('metadata-storm: opens and closes by the ten thousands', async () => {
    const LLITE = '!llite open,E close,E';
    const at = (opens: number) =>
      jobAt([LLITE], { a: [0, 1].map((k) => [`llite /work ${k * opens} ${k * opens}`]) });
    expect(said(await findingsAt(at(6e5), 'metadata-storm'))).toEqual([
      'notice: Job 7: up to 20,000 Lustre metadata operations per second, from host a.',
    ]);
    expect(await findingsAt(at(600), 'metadata-storm')).toEqual([]);
  });

  it('catastrophe: work that stops', async () => {
    const stops = jobAt([CPU], { a: user(0, 6e3, 12e3, 18e3, 24e3, 24e3, 24e3, 24e3, 24e3) });
    const [found] = await findingsAt(stops, 'catastrophe');
    expect(said([found])).toEqual([
      'problem: Job 7: work stopped within the job: after the fall a host does nothing of what it did before (host a, 480 s in all).',
    ]);
    expect(found.evidence.sql).toContain('FROM node_cpu');
    const goesOn = jobAt([CPU], { a: user(0, 6e3, 12e3, 18e3, 24e3, 30e3, 36e3) });
    expect(await findingsAt(goesOn, 'catastrophe')).toEqual([]);
    // Niced work is no user time: a few ticks that stop are no job that stops.
    const ticks = jobAt([CPU], { a: user(0, 6, 12, 18, 24, 24, 24, 24, 24) });
    expect(await findingsAt(ticks, 'catastrophe')).toEqual([]);
  });

  it('swap: pages in and out', async () => {
    const VM = '!vm pswpin,E pswpout,E';
    const at = (pages: number) =>
      jobAt([VM], { a: [0, 1, 2].map((k) => [`vm - ${k * pages} ${k * pages}`]) });
    expect(said(await findingsAt(at(6000), 'swap'))).toEqual([
      'problem: a swapped 24,000 pages, 200 per second and 200 at the peak: its memory is too small for what runs there.',
    ]);
    expect(await findingsAt(at(0), 'swap')).toEqual([]);
  });

  it('node-memory: hosts that are nearly full, file cache left out', async () => {
    const GIB = 2 ** 20;
    const at = (used: number) =>
      jobAt([MEM], { a: [0, 1].map(() => [`mem 0 ${32 * GIB} ${used * GIB} ${GIB} ${GIB}`]) });
    expect(said(await findingsAt(at(31), 'node-memory'))).toEqual([
      'notice: Programs on a had 29 GiB of 32 GiB in use (90.6 %).',
    ]);
    expect(await findingsAt(at(20), 'node-memory')).toEqual([]);
  });
});

describe('a wait for a CPU that is idle', () => {
  it('is no quota where none was sampled, and nobody else’s work', async () => {
    const seconds = [0, 1, 2, 3, 4];
    const path = writeFolder(newPath('.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(
        batchOf(
          ROSS_PE,
          seconds
            .slice(1)
            .flatMap((real_time) =>
              [0, 1].map((pe_id) => ({ pe_id, real_time, mode: 'gvt', events_processed: 1000 })),
            ),
        ),
        batchOf(
          SIM_THREAD,
          seconds.flatMap((real_time) =>
            [0, 0.4].map((share, pe_id) => ({
              ...{ pe_id, real_time },
              cpu_time: BigInt(Math.round(real_time * (1 - share) * 1e9)),
              run_queue_wait: BigInt(Math.round(real_time * share * 1e9)),
            })),
          ),
        ),
      ),
      'node/h1/1': rawStats(
        'h1',
        seconds.map((s) => ({
          time: NOON + s,
          cpus: [{ user: 100 * s }, { user: 60 * s, idle: 40 * s }],
        })),
      ),
    });
    const [found] = await findingsAt(path, 'stolen-cpu');
    expect(found.sentence).toBe(
      'PE 1 could not run for 40 % of the time (other PEs: 0 %): it waited 40 % of the time for CPU 1 of h1, of which other threads and processes used less than 0.1 %.',
    );
    expect(found.advice).toMatch(/^Nobody else used its CPU/);
  });
});

describe('all rules', () => {
  it('have a name of their own, a title, and a source for each threshold', () => {
    const names = FINDINGS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, title, looks, thresholds } of FINDINGS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(title).not.toBe('');
      expect(looks).toMatch(/[.)]$/);
      for (const { source, means } of Object.values(thresholds)) {
        expect(`${source} ${means}`).not.toMatch(/^\s|\s$/);
      }
    }
  });

  it('are on the page of findings as they are declared (node scripts/findings-docs.mjs)', () => {
    const page = readFileSync(new URL('../../docs/findings.md', import.meta.url), 'utf8');
    expect(page).toContain(rulesText());
  });
});
