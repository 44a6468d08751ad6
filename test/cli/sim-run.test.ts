/** `triscope sim run`: what it prints, writes and leaves behind. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRecording } from '../../src/model/recording.ts';
import { fixture, temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const MISBEHAVE = fixture('misbehave.ts');
/** PHOLD with 8 LPs to time 100: ROSS's counts scale so (specs: 7,992 to time 1000). */
const SMALL = ['sim', 'run', 'phold', '--end=100'];

/** The keys that scripts may rely on, in this order. */
const KEYS =
  'model synch pes kps lps seed end wallSeconds eventRate eventsProcessed eventsRolledBack eventsAborted netEvents eventsPastEnd totalRollbacks primaryRollbacks secondaryRollbacks efficiency fossilCollects gvtComputations allReduces remoteSends remoteReceives eventTies stateDigest eventDigest'.split(
    ' ',
  );

/** ROSS's fields in ROSS's order. */
const FIELDS = [
  'Running Time',
  'Total Events Processed',
  'Events Aborted (part of RBs)',
  'Events Rolled Back',
  'Event Ties Detected in PE Queues',
  'Efficiency',
  'Total Remote (shared mem) Events Processed',
  'Percent Remote Events',
  'Total Remote (network) Events Processed',
  'Percent Remote Events',
  'Total Roll Backs',
  'Primary Roll Backs',
  'Secondary Roll Backs',
  'Fossil Collect Attempts',
  'Total GVT Computations',
  'Net Events Processed',
  'Event Rate (events/sec)',
  'Total Events Scheduled Past End Time',
  'Events Allocated',
  'Memory Allocated',
  'Memory Wasted',
  'Remote sends',
  'Remote recvs',
  'PE struct',
  'KP struct',
  'LP struct',
  'LP Model struct',
  'LP RNGs',
  'Total LP',
  'Event struct',
  'Event struct with Model',
  'Initialization',
  'Priority Queue (enq/deq)',
  'AVL Tree (insert/delete)',
  'LZ4 (de)compression',
  'Buddy system',
  'Event Processing',
  'Event Cancel',
  'Event Abort',
  'GVT',
  'Fossil Collect',
  'Primary Rollbacks',
  'Network Read',
  'Other Network',
  'Instrumentation (computation)',
  'Instrumentation (write)',
  'Total Time',
  'GVT Interval',
  'GVT Real Time Interval (cycles)',
  'GVT Real Time Interval (sec)',
  'Batch Size',
  'Forced GVT',
  'Total GVT Computations',
  'Total All Reduce Calls',
  'Average Reduction / GVT',
];

describe('--json', () => {
  test('prints one object with the documented keys first', async () => {
    const { code, out, err } = await triscope([...SMALL, '--json', '--extramem=5']);
    expect(code).toBe(0);
    expect(err).toMatch(/^triscope: --extramem has no effect here: .*\n$/);
    const result = JSON.parse(out);
    expect(Object.keys(result).slice(0, KEYS.length)).toEqual(KEYS);
    expect(result).toMatchObject({
      model: 'phold',
      synch: 1,
      pes: 1,
      lps: 8,
      seed: [11111111, 22222222, 33333333, 44444444],
      end: 100,
      netEvents: 792,
      eventsPastEnd: 8,
      finished: true,
    });
    expect(result.stateDigest).toMatch(/^[0-9a-f]{16}$/);
    expect(result).not.toHaveProperty('recording');
  });

  test('one PE is sequential, several are optimistic, and both commit the same', async () => {
    const workload = [...SMALL, '--total-lps=16', '--json'];
    const one = await triscopeHere(workload);
    const two = await triscopeHere([...workload, '--pes=2', '--args-file=/dev/null']);
    const [a, b] = [JSON.parse(one.out), JSON.parse(two.out)];
    expect([a.synchroniser, b.synchroniser]).toEqual(['sequential', 'optimistic']);
    expect(b.netEvents).toBe(a.netEvents);
    expect(b.eventDigest).toBe(a.eventDigest);
    expect(b.stateDigest).toBe(a.stateDigest);
  });

  test.each(['--pes=1', '--pes=2'])('what models print goes to stderr (%s)', async (pes) => {
    for (const what of ['output', 'print']) {
      const args = ['sim', 'run', MISBEHAVE, `--what=${what}`, pes, '--json'];
      const { out, err } = await triscope(args);
      expect(JSON.parse(out).model).toBe('misbehave');
      expect(err).toContain(what === 'output' ? 'LP 2 at 6\n' : 'printed by the model\n');
    }
  });
});

describe('text', () => {
  test('has ROSS’s fields in ROSS’s order, and times of each PE', async () => {
    const { code, out } = await triscopeHere([...SMALL, '--pes=2']);
    expect(code).toBe(0);
    let at = 0;
    for (const field of FIELDS) {
      const label = field === 'Running Time' ? `\t: ${field} = ` : `\t${field} `;
      const found = out.indexOf(label, at);
      expect(found, `${field} after ${out.slice(at, at + 60)}`).toBeGreaterThan(-1);
      at = found + 1;
    }
    expect(out).toMatch(/PEs \(seconds per activity; estimates: sampled\):\n +PE 0 +PE 1\n/);
    expect(out).not.toContain('\x1b');
  });

  test('tells the least offset of events, of conservative runs alone', async () => {
    const run = (synch: string) =>
      triscopeHere([...SMALL, '--pes=2', '--lookahead=0.5', `--synch=${synch}`]);
    const { out } = await run('conservative');
    const [, least] = /\tMinimum TS Offset Detected in Conservative Mode +(\S+)\n/.exec(out) ?? [];
    expect(Number(least)).toBeGreaterThanOrEqual(0.5);
    expect(Number(least)).toBeLessThan(0.6);
    expect((await run('optimistic')).out).not.toContain('Minimum TS Offset');
  });

  test('has what the model prints and reports', async () => {
    const printed = await triscopeHere(['sim', 'run', MISBEHAVE, '--what=output', '--synch=3']);
    const reported = await triscopeHere(['sim', 'run', 'queueing', '--end=50']);
    expect(printed.out).toMatch(/^LP 2 at 6\nLP 2 at 7\n/);
    expect(reported.out).toContain('Model totals:');
    expect(reported.out).toMatch(/Model rows, stations:\n +served/);
  });
});

describe('--ross-csv', () => {
  test('appends a line per run under one header of ROSS’s columns and ours', async () => {
    const folder = temporaryFolder();
    await triscope([...SMALL, '--ross-csv'], { cwd: folder });
    await triscope([...SMALL, '--ross-csv', '--nkp=4'], { cwd: folder });
    const lines = readFileSync(join(folder, 'ross.csv'), 'utf8').split('\n');
    expect(lines).toHaveLength(4);
    const header = lines[0].split(',');
    expect(header.slice(0, 5)).toEqual(['total_pe', 'total_kp', 'total_lp', 'end_ts', 'mapping']);
    expect(header.length).toBeGreaterThan(50);
    const rows = lines.slice(1, 3).map((line) => line.split(','));
    expect(rows.map((row) => row.length)).toEqual([header.length, header.length]);
    expect(rows.map((row) => row[header.indexOf('net_events')])).toEqual(['792', '792']);
    expect(rows.map((row) => row[header.indexOf('total_kp')])).toEqual(['16', '4']);
  });
});

describe('--record', () => {
  test('leaves a folder that says what was run, where, and how it ended', async () => {
    const folder = temporaryFolder();
    const args = ['sim', 'run', 'phold', '--end=50', '--pes=2', '--record=a', '--json'];
    const { out } = await triscope(args, { cwd: folder });
    const path = join(folder, 'a.tri');
    const recording = checkRecording(
      JSON.parse(readFileSync(join(path, 'recording.json'), 'utf8')),
    );
    expect(recording.state).toBe('finished');
    expect(recording.madeBy.command).toEqual(['triscope', ...args]);
    expect(recording.pes.map((p) => p.pe)).toEqual([0, 1]);
    expect(recording.pes[0].host).toBe(recording.hosts[0].name);
    const [source] = recording.sources;
    expect(Math.abs(Number(BigInt(source.zero) / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    expect(source.files.map((f) => f.path)).toEqual([
      'sim-result.json',
      'stats-output/ross-stats-rt.bin',
      'stats-output/ross-stats-README.txt',
      'stats-output/lp-mapping.txt',
      'extra.frames',
    ]);
    const result = JSON.parse(readFileSync(join(path, 'sim-result.json'), 'utf8'));
    expect(result).toEqual(JSON.parse(out));
    expect(result.recording).toBe('a.tri');
  });

  test('a run that fails leaves why; one that is killed is still “running”', async () => {
    const folder = temporaryFolder();
    const read = (name: string) =>
      checkRecording(JSON.parse(readFileSync(join(folder, name, 'recording.json'), 'utf8')));
    const failed = triscope(['sim', 'run', MISBEHAVE, '--what=throw', '--record=failed'], {
      cwd: folder,
    });
    const killed = triscope(['sim', 'run', 'phold', '--end=1e9', '--record=killed'], {
      cwd: folder,
      meanwhile: (child) => {
        const timer = setInterval(() => {
          if (!existsSync(join(folder, 'killed.tri', 'recording.json'))) return;
          clearInterval(timer);
          child.kill('SIGKILL');
        }, 20);
      },
    });
    await Promise.all([failed, killed]);
    expect(read('failed.tri')).toMatchObject({ state: 'failed', sources: [{ files: [] }] });
    expect(read('failed.tri').error).toContain('LP 2 (misbehave) at virtual time 6');
    expect(read('killed.tri').state).toBe('running');
  });
});

test('--help lists the model’s options under its name, then ROSS’s groups', async () => {
  const { code, out } = await triscopeHere(['sim', 'run', 'phold', '--end=5', '--help']);
  expect(code).toBe(0);
  const titles = out.split('\n').filter((line) => /^\S.*:$/.test(line));
  expect(titles).toEqual([
    'Arguments:',
    'Model phold:',
    'ROSS MPI Kernel:',
    'ROSS Kernel:',
    'ROSS GVT:',
    'ROSS Timing:',
    'Triscope:',
    'Transport:',
    'ROSS Instrumentation:',
    'Checkpoints:',
    'Debugging:',
    'Output:',
    'Options:',
    'Examples:',
  ]);
  expect(out).toMatch(/--gvt-interval=N {2,}turns of the scheduler/);
  expect(out).toMatch(/--lookahead=X [^-]*\(default: 1\)/);
});
