/** `triscope export`, as a user calls it: what is written, and what is not when something is wrong. */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type ExportOptions, exportRecording, openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportCommand } from '../../dist/cli/commands/export.js';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { faults, type Trace, type TraceEvent } from '../formats/trace-event/rules.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { triscope } from './support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'export-command-'));
afterAll(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string) => join(folder, name);

const small = writeFolder(inFolder('small.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(
    batchOf(
      ROSS_PE,
      [1, 2].map((real_time) => ({
        real_time,
        pe_id: 0,
        mode: 'gvt',
        gvt: 10 * real_time,
        events_processed: 5,
        efficiency: 100,
      })),
    ),
  ),
  'node/h1/1': rawStats(
    'h1',
    [0, 1, 2].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }, { user: 7 * s }] })),
  ),
});

const traceFrom = (file: string): Trace => JSON.parse(readFileSync(file, 'utf8')) as Trace;
const of = (trace: Trace, ph: string): TraceEvent[] =>
  trace.traceEvents.filter((event) => event.ph === ph);
const processes = (trace: Trace): Map<number, unknown> =>
  new Map(
    of(trace, 'M')
      .filter(({ name }) => name === 'process_name')
      .map(({ pid, args }) => [pid, args?.name]),
  );

describe('a trace of a simulation', () => {
  const recording = inFolder('run.tri');
  let trace: Trace;
  beforeAll(async () => {
    const run = await triscope([
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
    const { code, err } = await triscope(words);
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
    await triscope(['export', recording, '--to', 'trace-event', '-o', inFolder('run.json.gz')]);
    const unpacked = gunzipSync(readFileSync(inFolder('run.json.gz')));
    expect(unpacked.equals(readFileSync(inFolder('run.json')))).toBe(true);
    const times = of(trace, 'X').map(({ ts }) => (ts as number) / 1e6);
    const middle = times[times.length >> 1];
    await triscope([
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
    await triscope(['export', small, '--to', 'trace-event', '-o', inFolder('small.json')]);
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
    const { code } = await triscope([
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
    await triscope(['export', small, later, '--to', 'trace-event', '-o', inFolder('two.json')]);
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

describe('texts for other tools', () => {
  it('OpenMetrics: families with type, unit and sentence, totals of what was counted, # EOF', async () => {
    const { out, code } = await triscope([
      'export',
      small,
      '--to',
      'openmetrics',
      '-o',
      '-',
      '--table',
      'ross_pe,node_cpu',
    ]);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines.slice(-2)).toEqual(['# EOF', '']);
    expect(lines).toContain(
      `triscope_ross_pe_events_processed_total{mode="gvt",pe_id="0"} 10 ${NOON + 2}.000000000`,
    );
    expect(lines).toContain('# TYPE triscope_node_cpu_user_centiseconds counter');
    expect(lines).toContain('# UNIT triscope_node_cpu_user_centiseconds centiseconds');
    expect(lines).toContain(
      `triscope_node_cpu_user_centiseconds_total{host="h1",device="1"} 14 ${NOON + 2}.000000000`,
    );
    expect(openMetricsFaults(out)).toEqual([]);
    const all = await triscope(['export', small, '--to', 'openmetrics', '-o', '-']);
    expect(openMetricsFaults(all.out)).toEqual([]);
  });

  it('CSV under the names of ross-binary-reader', async () => {
    const { out } = await triscope([
      'export',
      small,
      '--to',
      'csv',
      '--names',
      'reader',
      '--table',
      'ross_pe',
      '-o',
      '-',
    ]);
    const [head, first] = out.split('\n');
    expect(head.split(',').slice(0, 8)).toEqual([
      'RT',
      'VT',
      'gvt',
      'gvt_index',
      'mode',
      'PE',
      'event_proc',
      'ev_abort',
    ]);
    expect(first.split(',')[6]).toBe('5');
  });

  it('traces in GEOPM’s form, without its head', async () => {
    const text =
      '# geopm_version: 3.1.0\n# start_time: Thu Feb 29 2024\n# profile_name: p\n# node_name: h1\n# agent: monitor\nTIME|EPOCH_COUNT|REGION_HASH|CPU_ENERGY-package-0\n0.5|1|0x00000001|12.5\n1.5|2|0x00000001|nan\n';
    writeFileSync(inFolder('trace'), text);
    const made = await triscope([
      'export',
      inFolder('trace'),
      '--to',
      'csv',
      '--names',
      'geopm',
      '--table',
      'geopm_trace',
      '-o',
      '-',
    ]);
    expect(made.out).toBe(
      'TIME|EPOCH_COUNT|REGION_HASH|CPU_ENERGY-package-0\n0.5|1|0x00000001|12.5\n1.5|2|0x00000001|nan\n',
    );
  });
});

describe('what is wrong is said in a line, and nothing is left behind', () => {
  const parquet = (out: string, ...more: string[]) =>
    triscope(['export', small, '--to', 'parquet', '-o', out, ...more]);
  const left = () => readdirSync(folder).filter((name) => name.includes('.part-'));

  it.each<[string, string[], number, string]>([
    [
      'no format',
      ['-o', 'x'],
      2,
      '--to : must be one of parquet, arrow, csv, json, trace-event, openmetrics',
    ],
    ['wrong SQL', ['--to', 'csv', '-o', 'x', '--sql', 'SELECT FROM'], 2, 'SQL:'],
    [
      'a folder that is not there',
      ['--to', 'csv', '-o', inFolder('no/x')],
      1,
      'no/x: cannot be written: its folder is not there',
    ],
  ])('%s', async (_, args, code, message) => {
    const outcome = await triscope(['export', small, ...args], { cwd: folder });
    expect(outcome.err).toContain(message);
    expect([outcome.code, outcome.out, outcome.err.split('\n').length]).toEqual([code, '', 2]);
    expect([existsSync(inFolder('x')), left()]).toEqual([false, []]);
  });

  it.each<[string, string[], string]>([
    ['another format', ['--to', 'parket', '-o', 'x'], 'did you mean parquet?'],
    ['no place', ['--to', 'csv'], '-o OUT is missing'],
    ['an unknown option', ['--to', 'csv', '-o', 'x', '--tabel=a'], 'did you mean --table?'],
    [
      'an option of another format',
      ['--to', 'csv', '-o', 'x', '--no-flows'],
      '--no-flows is for trace-event',
    ],
  ])('%s', async (_, args, message) => {
    const asked = exportCommand([small, ...args]);
    await expect(asked).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, Partial<ExportOptions>, string]>([
    ['an unknown table', { tables: ['ross_p'] }, 'there is no table ross_p; did you mean ross_pe?'],
    [
      'an unknown table of samples',
      { format: 'openmetrics', tables: ['ross_p'] },
      'there is no table of samples ross_p',
    ],
    ['SQL that changes', { sql: 'DROP VIEW ross_pe' }, 'are read-only'],
    ['SQL that writes', { sql: "COPY (SELECT 1) TO '/tmp/x'" }, 'disabled by configuration'],
    ['SQL of two statements', { sql: 'SELECT 1; SELECT 2' }, 'one query at a time'],
    ['SQL that breaks out', { sql: "SELECT 1) TO '/tmp/x' --" }, 'SQL:'],
    ['SQL that reads files', { sql: "FROM read_csv('/etc/passwd')" }, 'disabled by configuration'],
    ['several tables in a file', {}, 'x.csv is one file, and there are several tables'],
  ])('%s', async (_, options, message) => {
    const made = exportRecording({ paths: [small], format: 'csv', ...options }, inFolder('x.csv'));
    await expect(made).rejects.toMatchObject({
      name: 'QueryError',
      message: expect.stringContaining(message),
    });
    expect([existsSync(inFolder('x.csv')), left()]).toEqual([false, []]);
  });

  it('a disk that takes no more: no file under the name', async () => {
    const rows = Array.from({ length: 8000 }, (_, k) => ({
      real_time: Math.sin(k),
      pe_id: k,
      gvt: Math.cos(k),
      mode: 'gvt',
    }));
    const large = writeFolder(inFolder('large.tri'), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, rows)),
    });
    const bin = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
    const fill = async (format: string, name: string) => {
      const table = format === 'trace-event' ? [] : ['--table', 'ross_pe'];
      const words = [
        process.execPath,
        bin,
        'export',
        large,
        '--to',
        format,
        '-o',
        inFolder(name),
        ...table,
      ];
      // 64 blocks of 1 KB.
      const child = spawn('bash', ['-c', 'ulimit -f 64; exec "$@"', 'bash', ...words]);
      let err = '';
      child.stderr.on('data', (data) => {
        err += data;
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(err).toBe(
        `triscope: ${inFolder(name)}: cannot be written: it would be larger than a file may be here (ulimit -f)\n`,
      );
      expect([code, existsSync(inFolder(name))]).toEqual([1, false]);
    };
    await Promise.all([
      fill('parquet', 'full.parquet'),
      fill('csv', 'full.csv'),
      fill('arrow', 'full.arrow'),
      fill('trace-event', 'full.json.gz'),
    ]);
    expect(left()).toEqual([]);
  });

  it('a folder where nobody may write', async () => {
    // Not even root may in the kernel's own folder.
    const { code, err } = await parquet('/sys/x');
    expect([code, err.includes('this user may not write there')]).toEqual([1, true]);
  });

  it('a folder with files in it, a device', async () => {
    mkdirSync(inFolder('used/deep'), { recursive: true });
    const used = await parquet(inFolder('used'));
    expect([used.code, used.err.includes('name another one')]).toEqual([1, true]);
    const device = await parquet('/dev/null', '--table', 'pes');
    expect([device.code, device.err.includes('is no file')]).toEqual([1, true]);
  });

  it('an old file is replaced, and stays where the new one fails', async () => {
    writeFileSync(inFolder('old.parquet'), 'old');
    expect((await parquet(inFolder('old.parquet'), '--table', 'nothing')).code).toBe(2);
    expect(readFileSync(inFolder('old.parquet'), 'utf8')).toBe('old');
    expect((await parquet(inFolder('old.parquet'), '--table', 'pes')).code).toBe(0);
    expect(readFileSync(inFolder('old.parquet')).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('a recording without samples gives tables without rows, and an empty trace', async () => {
    const empty = writeFolder(inFolder('empty.tri'), {
      'recording.json': recordingOf({ pes: [] }),
    });
    const trace = await triscope([
      'export',
      empty,
      '--to',
      'trace-event',
      '-o',
      inFolder('empty.json'),
      '--json',
    ]);
    expect([trace.code, faults(traceFrom(inFolder('empty.json')))]).toEqual([0, []]);
    const tables = await triscope(['export', empty, '--to', 'csv', '-o', '-', '--table', 'pes']);
    expect([tables.code, tables.out]).toEqual([0, 'pe,rank,host,cpu,thread_id\n']);
    expect(tables.err).toContain('it is empty');
  });

  it('a recording that is still being written is exported up to here, and told', async () => {
    const running = writeFolder(inFolder('running.tri'), {
      'recording.json': recordingOf({ state: 'running' }),
      'extra.frames': framesOf(
        batchOf(ROSS_PE, [{ real_time: 1, pe_id: 0, mode: 'gvt' }]),
      ).subarray(0, -8),
    });
    const { code, err } = await triscope([
      'export',
      running,
      '--to',
      'parquet',
      '-o',
      inFolder('running'),
    ]);
    expect(code).toBe(0);
    expect(err).toContain('still being written: exported up to here');
    expect(err).toContain('not a whole frame');
  });

  it('an interrupt leaves nothing', async () => {
    const outcome = await triscope(
      [
        'export',
        small,
        '--to',
        'csv',
        '-o',
        inFolder('cut'),
        '--sql',
        'SELECT count(*) FROM range(20000) a, range(20000) b, range(20000) c',
      ],
      {
        meanwhile: (child) => {
          const timer = setInterval(() => {
            if (left().length === 0) return;
            clearInterval(timer);
            setTimeout(() => child.kill('SIGINT'), 500);
          }, 20);
        },
      },
    );
    expect([outcome.code, existsSync(inFolder('cut')), left()]).toEqual([130, false, []]);
    expect(outcome.err).toBe('triscope: interrupted; nothing was written\n');
  });
});

const SAMPLE =
  /^([a-zA-Z_][a-zA-Z0-9_]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+)(?: (\d+\.\d+))?$/;

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="/g;

/**
 * What is against OpenMetrics 1.0: a family's lines are together, TYPE first and each of TYPE, UNIT, HELP once; names of
 * families and samples are each other's in no case; units end names; a series' samples are together, with times that
 * ascend, or without any; labels are told apart; texts are escaped; counters are not negative and do not fall.
 */
function openMetricsFaults(text: string): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  const series = new Map<string, { time: number; value: number }>();
  const names = new Set<string>();
  const told = new Set<string>();
  let before = '';
  let family = '';
  let type = '';
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.pop() !== '# EOF') faults.push('no # EOF');
  for (const line of lines) {
    const [, what, name, value] = /^# (TYPE|UNIT|HELP) (\S+) ?(.*)$/.exec(line) ?? [];
    if (what === 'TYPE') {
      if (seen.has(name)) faults.push(`again: ${line}`);
      seen.add(name);
      family = name;
      type = value;
      if (!['counter', 'gauge'].includes(type)) faults.push(`another type: ${line}`);
      for (const one of [name, `${name}_total`, `${name}_created`]) {
        if (names.has(one)) faults.push(`${one} is another family's: ${line}`);
        names.add(one);
      }
      continue;
    }
    if (what !== undefined) {
      if (name !== family || before.startsWith(family)) faults.push(`of another family: ${line}`);
      if (told.has(`${what} ${name}`)) faults.push(`again: ${line}`);
      told.add(`${what} ${name}`);
      if (what === 'HELP' && /\\(?![\\n"])/.test(value.replaceAll('\\\\', '')))
        faults.push(`not escaped: ${line}`);
      if (what === 'UNIT' && !name.endsWith(`_${value}`))
        faults.push(`unit not in the name: ${line}`);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) {
      faults.push(`no sample: ${line}`);
      continue;
    }
    if (sample[1] !== (type === 'counter' ? `${family}_total` : family))
      faults.push(`not of ${family}: ${line}`);
    const number =
      sample[3] === '+Inf' ? Infinity : sample[3] === '-Inf' ? -Infinity : Number(sample[3]);
    if (Number.isNaN(number) && sample[3] !== 'NaN') faults.push(`no number: ${line}`);
    const labels = [...(sample[2] ?? '').matchAll(LABEL)].map(([, name]) => name);
    if (new Set(labels).size < labels.length) faults.push(`a label twice: ${line}`);
    const key = sample[1] + (sample[2] ?? '');
    const time = Number(sample[4] ?? Infinity);
    const last = series.get(key);
    if (last !== undefined && before !== key) faults.push(`apart from its series: ${line}`);
    if (last !== undefined && !(time > last.time)) faults.push(`time does not ascend: ${line}`);
    if (type === 'counter' && !(number >= (last?.value ?? 0))) faults.push(`falls: ${line}`);
    series.set(key, { time, value: number });
    before = key;
  }
  return faults;
}
