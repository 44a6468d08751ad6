/** A run over MPI on two hosts: what is recorded of both, on one timeline. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRecording, type Recording } from '../../src/model/recording.ts';
import { HAS_HOSTS, Hosts, NEEDS_HOSTS } from '../sim/support/hosts.ts';
import type { JobOutcome } from '../sim/support/mpirun.ts';
import { BIN, temporaryFolder, triscope } from './support/run.ts';

/** Seconds that the second host's clock is ahead. */
const AHEAD = 5000;
const MODEL = ['sim', 'run', 'phold', '--end=1000', '--total-lps=64', '--lookahead=0.1'];
const PATIENCE = 120_000;

const folder = temporaryFolder();
const recorded = join(folder, 'both.tri');

const readFacts = (path: string): Recording =>
  checkRecording(JSON.parse(readFileSync(join(path, 'recording.json'), 'utf8')));

describe.skipIf(!HAS_HOSTS)(`on two hosts${NEEDS_HOSTS}`, { timeout: PATIENCE }, () => {
  let hosts: Hosts;
  let job: JobOutcome;
  let facts: Recording;

  beforeAll(async () => {
    hosts = await Hosts.make([
      { name: 'tri-a', ahead: 0 },
      { name: 'tri-b', ahead: AHEAD },
    ]);
    const record = [`--record=${recorded}`, '--engine-stats=1', '--num-gvt=8'];
    const beside = ['--node-stats=50', '--regions', '--json'];
    job = await hosts.mpirun(2, [BIN, ...MODEL, ...record, ...beside]);
    expect(job.code, job.err).toBe(0);
    facts = readFacts(recorded);
  }, PATIENCE);
  afterAll(() => hosts?.remove());

  it('the result is that of a sequential run', async () => {
    const alone = JSON.parse((await triscope([...MODEL, '--json'])).out);
    const both = JSON.parse(job.out);
    expect([both.eventDigest, both.stateDigest, both.netEvents]).toEqual([
      alone.eventDigest,
      alone.stateDigest,
      alone.netEvents,
    ]);
    expect(both.remoteEvents).toBeGreaterThan(0);
    // Those of a host with each other.
    expect(both.sharedMemory).toBe('some');
  });

  it('the recording says which PE was where', () => {
    expect(facts.state).toBe('finished');
    expect(facts.hosts.map(({ name }) => name)).toEqual(['tri-a', 'tri-b']);
    expect(facts.pes.map(({ pe, rank, host }) => [pe, rank, host])).toEqual([
      [0, 0, 'tri-a'],
      [1, 1, 'tri-a'],
      [2, 2, 'tri-b'],
      [3, 3, 'tri-b'],
    ]);
  });

  it('and how far the clocks are apart, which is as far as they were set', () => {
    expect(facts.clocks).toHaveLength(1);
    for (const { host, rank, same, start, end, drift, driftUncertainty } of facts.clocks ?? []) {
      expect([host, rank, same]).toEqual(['tri-b', 2, false]);
      for (const { monotonic, wall, uncertainty } of [start, end]) {
        expect(Math.abs(Number(monotonic) - AHEAD * 1e9)).toBeLessThanOrEqual(uncertainty + 1000);
        // Times of day are the same on both.
        expect(Math.abs(Number(wall))).toBeLessThanOrEqual(uncertainty + 10_000);
      }
      expect(Math.abs(drift)).toBeLessThanOrEqual(driftUncertainty + 1000);
      expect(BigInt(end.at)).toBeGreaterThan(BigInt(start.at));
    }
  });

  it('info says so', async () => {
    const { code, out } = await triscope(['info', recorded]);
    expect(code).toBe(0);
    expect(out).toMatch(/host +tri-b: \d+ CPUs, 2 PEs/);
    const [, ahead, uncertainty] =
      /clock +tri-b: ahead of tri-a's by ([\d.]+) ms, corrected; .* both ± ([\d.]+) ms; drift .* ppm, not corrected/.exec(
        out,
      ) ?? [];
    // Both are printed with six digits.
    expect(Math.abs(Number(ahead) - AHEAD * 1e3)).toBeLessThanOrEqual(Number(uncertainty) + 10);
  });

  it('each host was sampled once, and samples of all PEs join those of their hosts', async () => {
    expect(readdirSync(join(recorded, 'node')).sort()).toEqual(['tri-a', 'tri-b']);
    const recording = await openRecording(recorded);
    const rows = await recording.query<{ pe: number; host: string; windows: bigint }>(
      'SELECT pe_id AS pe, any_value(host) AS host, count(*) AS windows FROM pe_on_node GROUP BY pe_id ORDER BY pe_id',
    );
    const spans = await recording.query<{ least: number; most: number }>(
      'SELECT min(t) AS least, max(t) AS most FROM ross_pe GROUP BY pe_id',
    );
    await recording.close();
    expect(rows.map(({ pe, host }) => [pe, host])).toEqual([
      [0, 'tri-a'],
      [1, 'tri-a'],
      [2, 'tri-b'],
      [3, 'tri-b'],
    ]);
    for (const { windows } of rows) expect(Number(windows)).toBeGreaterThan(2);
    // One timeline: no PE's samples lie 5000 s from the others'.
    for (const { least, most } of spans) {
      expect(least).toBeGreaterThan(-1);
      expect(most).toBeLessThan(PATIENCE / 1000);
    }
  });

  it('one report has both hosts, each with its ranks and their MPI calls', () => {
    const text = readFileSync(join(recorded, 'geopm.report'), 'utf8');
    const [head, ...parts] = text.split(/^ {2}(?=tri-[ab]:$)/m);
    expect(head.match(/^Hosts:$/gm)).toHaveLength(1);
    expect(parts.map((part) => part.slice(0, 6))).toEqual(['tri-a:', 'tri-b:']);
    const ranks = parts.map((part) => part.match(/rank: \d+/g)?.sort());
    expect(ranks).toEqual([
      ['rank: 0', 'rank: 1'],
      ['rank: 2', 'rank: 3'],
    ]);
    for (const part of parts) {
      for (const name of ['MPI_Isend', 'MPI_Irecv', 'MPI_Test', 'MPI_Iallreduce']) {
        expect(part).toContain(`region: "${name}"`);
      }
    }
    const entries = facts.sources.map(({ name }) => name);
    expect(entries).toEqual(['sim', 'node', 'node tri-b', 'regions']);
  });

  it('region launch beside each rank makes one report, too, of any program', async () => {
    const report = join(folder, 'launched.report');
    const launch = ['region', 'launch', '--auto=sim', `--geopm-report=${report}`, '--'];
    const program = [process.execPath, BIN, ...MODEL, '--json'];
    const { code, out, err } = await hosts.mpirun(2, [BIN, ...launch, ...program]);
    expect(code, err).toBe(0);
    expect(JSON.parse(out).pes).toBe(4);
    const [, ...parts] = readFileSync(report, 'utf8').split(/^ {2}(?=tri-[ab]:$)/m);
    expect(parts.map((part) => part.slice(0, 6))).toEqual(['tri-a:', 'tri-b:']);
    const ranks = parts.map((part) => new Set(part.match(/rank: \d+/g)));
    expect(ranks).toEqual([new Set(['rank: 0', 'rank: 1']), new Set(['rank: 2', 'rank: 3'])]);
    for (const part of parts) expect(part).toContain('region: "MPI_Isend"');
    const left = readdirSync(folder).filter((name) => name.startsWith('launched.report'));
    expect(left).toEqual(['launched.report']);
  });

  it('a rank that is killed on one ends the job on both; what was recorded can be opened', async () => {
    const half = join(folder, 'half.tri');
    const long = ['sim', 'run', 'phold', '--end=1e9', '--total-lps=64', '--engine-stats=1'];
    const { code, err } = await hosts.mpirun(1, [BIN, ...long, `--record=${half}`], async () => {
      const samples = join(half, 'stats-output', 'ross-stats-gvt.bin');
      const begun = () => existsSync(samples) && readFileSync(samples).length > 0;
      while (!begun()) await new Promise((resolve) => setTimeout(resolve, 100));
      const [rank] = hosts.processes('tri-b', 'sim run phold --end=1e9');
      process.kill(rank, 'SIGKILL');
    });
    expect(code).not.toBe(0);
    expect(err).toMatch(/signal 9|Killed/);
    const { code: read, out } = await triscope(['info', half]);
    expect(read).toBe(0);
    expect(out).toMatch(/recording, (running|interrupted)/);
    expect(out).toMatch(/records +[1-9]/);
  });
});
