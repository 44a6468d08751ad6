/** `triscope export --to trace-event`: traces by the format’s own rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { exportRecording, openRecording } from 'triscope/query';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROCESS, PROCESS_THREAD } from '../../src/model/schemas/process.ts';
import { ROSS_EVENT, ROSS_PE } from '../../src/model/schemas/ross.ts';
import { faults, type Trace } from '../formats/trace-event/rules.ts';
import { batchOf, framesOf, NOON, recordingOf, writeFolder } from '../query/support/recording.ts';
import { inFolder, of, processes, small, traceFrom } from './support/export.ts';
import { triscopeHere } from './support/run.ts';

describe('a trace of a simulation', () => {
  const recording = inFolder('run.tri');
  let trace: Trace;
  beforeAll(async () => {
    const run = await triscopeHere([
      ...[
        'sim',
        'run',
        'phold',
        '--pes=2',
        '--total-lps=64',
        '--lookahead=0.1',
        '--end=100',
        '--engine-stats=gvt',
      ],
      ...['--event-trace=all', `--record=${inFolder('run')}`],
    ]);
    expect(run.code).toBe(0);
    const words = ['export', recording, '--to', 'trace-event', '-o', inFolder('run.json')];
    const { code, err } = await triscopeHere(words);
    expect([code, err.includes('trace events')]).toEqual([0, true]);
    trace = traceFrom(inFolder('run.json'));
  });

  it('follows the format’s rules: PEs are processes, KPs threads, arrows pair up', async () => {
    expect(faults(trace)).toEqual([]);
    const names = [...processes(trace).values()];
    expect(names).toEqual(expect.arrayContaining(['PE 0', 'PE 1', 'run']));
    const slices = of(trace, 'X');
    expect(new Set(slices.map(({ pid }) => pid))).toEqual(new Set([0, 1]));
    expect(of(trace, 'f').length).toBeGreaterThan(0.8 * slices.length);
    expect(of(trace, 'C').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['GVT', 'efficiency (%)', 'events pending']),
    );
    const asked = await openRecording(recording);
    const [{ events, rollbacks }] = await asked.query<{ events: number; rollbacks: number }>(
      'SELECT count(*) AS events, (SELECT count(*) FROM ross_rollback) AS rollbacks FROM ross_event',
    );
    await asked.close();
    expect([slices.length, of(trace, 'i').length]).toEqual([events, rollbacks]);
    for (const { args } of of(trace, 'i')) expect(args).toHaveProperty('cause');
  });

  it('is the same compressed, and may be a stretch of time without arrows', async () => {
    await triscopeHere(['export', recording, '--to', 'trace-event', '-o', inFolder('run.json.gz')]);
    const unpacked = gunzipSync(readFileSync(inFolder('run.json.gz')));
    expect(unpacked.equals(readFileSync(inFolder('run.json')))).toBe(true);
    const times = of(trace, 'X').map(({ ts }) => (ts as number) / 1e6);
    const middle = times[times.length >> 1];
    await triscopeHere([
      'export',
      recording,
      '--to=trace-event',
      `--from=${middle}`,
      '--no-flows',
      '-o',
      inFolder('part.json'),
    ]);
    const part = traceFrom(inFolder('part.json'));
    expect(faults(part)).toEqual([]);
    expect(of(part, 's')).toEqual([]);
    const first = Math.min(...of(part, 'X').map(({ ts }) => ts as number));
    expect(first).toBeGreaterThanOrEqual(Math.floor(middle * 1e6) - 1);
  });
});

describe('a trace', () => {
  it('has the node’s counters, and GVT once', async () => {
    await triscopeHere(['export', small, '--to', 'trace-event', '-o', inFolder('small.json')]);
    const trace = traceFrom(inFolder('small.json'));
    expect(faults(trace)).toEqual([]);
    const [host] = [...processes(trace)].find(([, name]) => name === 'host h1') ?? [];
    const cpu = of(trace, 'C').filter(({ pid, name }) => pid === host && name === 'cpu per s 0');
    expect(cpu.map(({ ts, args }) => [ts, args?.user])).toEqual([
      [1e6, 100],
      [2e6, 100],
    ]);
    const gvt = of(trace, 'C').filter(({ name }) => name === 'GVT');
    expect(gvt.map(({ ts, args }) => [ts, args])).toEqual([
      [1e6, { gvt: 10 }],
      [2e6, { gvt: 20 }],
    ]);
  });

  it('draws each thread of a process on a track of its own, where the trace tells them apart', async () => {
    const rows = [
      '0|7|EVENT_START_PROFILE|0x00000009|7',
      '0.1|7|REGION_ENTRY|0x00000001|7',
      '0.2|7|REGION_ENTRY|0x00000001|8',
      '0.3|7|REGION_EXIT|0x00000001|7',
      '0.4|7|REGION_EXIT|0x00000001|8',
    ];
    writeFileSync(inFolder('threads'), `TIME|PROCESS|EVENT|SIGNAL|THREAD\n${rows.join('\n')}\n`);
    const words = ['export', inFolder('threads'), '--to', 'trace-event', '-o', inFolder('t.json')];
    expect((await triscopeHere(words)).code).toBe(0);
    const trace = traceFrom(inFolder('t.json'));
    expect(faults(trace)).toEqual([]);
    const drawn = trace.traceEvents.filter(({ ph }) => 'BE'.includes(ph));
    expect(drawn.map(({ ph, tid, ts }) => [ph, tid, ts])).toEqual([
      ['B', 7, 100_000],
      ['B', 8, 200_000],
      ['E', 7, 300_000],
      ['E', 8, 400_000],
    ]);
    const names = of(trace, 'M').filter(({ name }) => name === 'thread_name');
    expect(names.map(({ args }) => args)).toEqual([{ name: 'thread 7' }, { name: 'thread 8' }]);
  });

  it('draws the regions of a recorded command on the threads of its processes', async () => {
    const who = { host: 'h1', process_id: 7 };
    const thread = (real_time: number, thread_id: number) => ({
      ...{ ...who, real_time, thread_id, name: `app${thread_id}` },
      ...{ state: 'R', cpu_time: BigInt(Math.round(real_time * 1e9)) },
    });
    const head = '# start_time: 2026-03-01T12:00:00.000000000+0000\n# node_name: h1\n';
    const rows = [
      ...['0.1|7|REGION_ENTRY|0x00000001|8', '0.4|7|REGION_EXIT|0x00000001|8'],
      ...['0.2|9|REGION_ENTRY|0x00000001|9', '0.3|9|REGION_EXIT|0x00000001|9'],
    ];
    const path = writeFolder(inFolder('command.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(
        batchOf(PROCESS, [{ ...who, real_time: 0, rank: 1, name: 'app' }]),
        batchOf(
          PROCESS_THREAD,
          [0, 0.5].flatMap((t) => [thread(t, 7), thread(t, 8)]),
        ),
      ),
      'geopm.profile-h1': `${head}TIME|PROCESS|EVENT|SIGNAL|THREAD\n${rows.join('\n')}\n`,
    });
    const words = ['export', path, '--to', 'trace-event', '-o', inFolder('c.json')];
    expect((await triscopeHere(words)).code).toBe(0);
    const trace = traceFrom(inFolder('c.json'));
    expect(faults(trace)).toEqual([]);
    const names = processes(trace);
    const [first] = trace.traceEvents.filter(({ ph }) => ph === 'B');
    expect([names.get(first.pid), first.tid]).toEqual(['rank 1 app process 7 h1', 8]);
    const counted = of(trace, 'C').filter(({ name }) => name?.startsWith('thread 8'));
    expect(new Set(counted.map(({ pid }) => pid))).toEqual(new Set([first.pid]));
    const threads = of(trace, 'M').filter(
      ({ name, pid }) => name === 'thread_name' && pid === first.pid,
    );
    expect(threads.map(({ tid, args }) => [tid, args?.name])).toEqual([[8, 'thread 8 app8']]);
    // A process that only marks, as one that ended between two samples, has its own.
    expect([...names.values()]).toContain('regions of process 9 h1');
    expect(new Set([...names.values()]).size).toBe(names.size);
  });

  it('nests the regions that GEOPM traced, and closes what was left open', async () => {
    const rows = [
      ...[
        '0.1|7|REGION_ENTRY|0x00000001',
        '0.2|7|REGION_ENTRY|0x00000002',
        '0.3|7|REGION_EXIT|0x00000002',
      ],
      ...[
        '0.35|8|REGION_ENTRY|0x00000002',
        '0.4|7|REGION_EXIT|0x00000001',
        '0.5|7|REGION_ENTRY|0x00000001',
      ],
      '0.6|7|EPOCH_COUNT|1',
    ];
    const head =
      '# geopm_version: 3.1.0\n# start_time: Thu Feb 29 2024\n# profile_name: p\n# node_name: h1\n# agent: monitor\n';
    writeFileSync(inFolder('profile'), `${head}TIME|PROCESS|EVENT|SIGNAL\n${rows.join('\n')}\n`);
    const { code } = await triscopeHere([
      'export',
      inFolder('profile'),
      '--to',
      'trace-event',
      '-o',
      inFolder('p.json'),
    ]);
    expect(code).toBe(0);
    const trace = traceFrom(inFolder('p.json'));
    expect(faults(trace)).toEqual([]);
    const names = processes(trace);
    const drawn = trace.traceEvents.filter(({ ph }) => 'BE'.includes(ph));
    expect(drawn.map(({ ph, name, pid, ts }) => [ph, name ?? '', names.get(pid), ts])).toEqual([
      ['B', '0x00000001', 'regions of process 7 h1', 100_000],
      ['B', '0x00000002', 'regions of process 7 h1', 200_000],
      ['E', '', 'regions of process 7 h1', 300_000],
      ['B', '0x00000002', 'regions of process 8 h1', 350_000],
      ['E', '', 'regions of process 7 h1', 400_000],
      ['B', '0x00000001', 'regions of process 7 h1', 500_000],
      ['E', '', 'regions of process 7 h1', 500_000],
      ['E', '', 'regions of process 8 h1', 500_000],
    ]);
  });

  it('holds several recordings, on one timeline', async () => {
    const later = writeFolder(inFolder('later.tri'), {
      'recording.json': recordingOf({
        sources: [
          {
            name: 'sim',
            files: [{ path: 'extra.frames', format: 'frames' }],
            zero: `${NOON + 10}000000000`,
            droppedBytes: 0,
          },
        ],
      }),
      'extra.frames': framesOf(batchOf(ROSS_PE, [{ real_time: 1, pe_id: 0, mode: 'gvt', gvt: 3 }])),
    });
    await triscopeHere(['export', small, later, '--to', 'trace-event', '-o', inFolder('two.json')]);
    const trace = traceFrom(inFolder('two.json'));
    expect(faults(trace)).toEqual([]);
    const gvt = of(trace, 'C').filter(({ name }) => name === 'GVT');
    expect(gvt.map(({ ts, args }) => [ts, args?.gvt])).toEqual([
      [1e6, 10],
      [2e6, 20],
      [11e6, 3],
    ]);
  });
});

describe('a trace of many events', () => {
  it('is written by several threads, in order, and is the same compressed', async () => {
    const length = 50_000;
    // Each LP's events cause the next of another one.
    const lp = Uint32Array.from({ length }, (_, k) => k % 64);
    const at = Float64Array.from({ length }, (_, k) => 1 + k);
    const real = Float64Array.from(at, (time) => time * 1e-6);
    const source = Uint32Array.from(lp, (_, k) => (k === 0 ? 0 : lp[k - 1]));
    const send = Float64Array.from(at, (time) => time - 1);
    const columns = [source, lp, send, at, real];
    const many = writeFolder(inFolder('many.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf({ schema: ROSS_EVENT, rows: length, columns }),
    });
    const to = (name: string, gzip: boolean) =>
      exportRecording({ paths: [many], format: 'trace-event', gzip }, inFolder(name));
    const [{ files }] = await Promise.all([to('many.json', false), to('many.json.gz', true)]);
    const made = traceFrom(inFolder('many.json'));
    expect(faults(made)).toEqual([]);
    expect([of(made, 'X').length, of(made, 's').length]).toEqual([length, length - 1]);
    expect(files[0].rows).toBe(length + 2 * (length - 1));
    const unpacked = gunzipSync(readFileSync(inFolder('many.json.gz')));
    expect(unpacked.equals(readFileSync(inFolder('many.json')))).toBe(true);
  });
});
