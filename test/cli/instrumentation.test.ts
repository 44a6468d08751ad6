/** The options under “ROSS Instrumentation”, as users of every era write them, and what they leave on disk. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FrameDecoder } from '../../src/formats/frames/index.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const PHOLD = ['phold', '--total-lps=16', '--remote=0.4', '--lookahead=0.1', '--end=60', '--nkp=2'];
const PCS = ['pcs', '--width=4', '--height=2', '--end=20', '--nkp=2'];

async function run(args: readonly string[], model: readonly string[] = PHOLD) {
  const cwd = temporaryFolder();
  const outcome = await triscopeHere(['sim', 'run', ...model, ...args], { cwd });
  return { ...outcome, cwd, notes: outcome.err.split('\n').filter(Boolean) };
}

const filesIn = (folder: string) => readdirSync(folder).sort();

const TEXTS = ['lp-mapping.txt', 'ross-stats-README.txt'];
const withTexts = (...names: readonly string[]) =>
  [...TEXTS, ...names.map((name) => `ross-stats-${name}.bin`)].sort();

type Row = Readonly<Record<string, number | string>>;

async function rowsOf(path: string): Promise<Row[]> {
  const { code, out, err } = await triscopeHere(['read', path, '--format=json']);
  expect([code, err]).toEqual([0, '']);
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}

const sum = (rows: readonly Row[], kind: string, key: string) =>
  rows.filter((r) => r.kind === kind).reduce((total, r) => total + Number(r[key]), 0);
const kindsOf = (rows: readonly Row[]) => [...new Set(rows.map((r) => r.kind))].sort();

const GVT_NOTE = 'triscope: --enable-gvt-stats is ROSS’s of 2016; it is --engine-stats=gvt now';
const RT_NOTE =
  'triscope: --real-time-samp is ROSS’s of 2016; it is --engine-stats=rt --rt-interval=5 now';

describe('what is sampled when: the files are those of ROSS', () => {
  const VT = '--vt-interval=7';
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['--engine-stats=1', [], ['gvt']],
    ['--engine-stats=2', [], ['rt']],
    ['--engine-stats=gvt,rt', [], ['gvt', 'rt']],
    ['--engine-stats=gvt', [], ['gvt']],
    ['--engine-stats=rt', [], ['rt']],
    ['--engine-stats=vt', [VT], ['analysis-lps']],
    ['--engine-stats=gvt,vt', [VT], ['analysis-lps', 'gvt']],
    ['--engine-stats=all', [VT], ['analysis-lps', 'gvt', 'rt']],
    ['--engine-stats=3', ['--stats-era=ross-7', VT], ['analysis-lps']],
    ['--engine-stats=4', ['--stats-era=ross-7', VT], ['analysis-lps', 'gvt', 'rt']],
    ['--engine-stats=3', [VT], ['analysis-lps']],
    ['--engine-stats=4', [VT], ['analysis-lps', 'gvt', 'rt']],
    ['--engine-stats=3', ['--granularity=0'], ['gvt', 'rt']],
    ['--event-trace=1', [], ['evtrace']],
    ['--event-trace=committed', [], ['evtrace']],
  ];
  test.each(cases)('%s %j', async (option, more, names) => {
    const { code, cwd } = await run([option, ...more]);
    expect(code).toBe(0);
    expect(filesIn(cwd)).toEqual(['stats-output']);
    expect(filesIn(join(cwd, 'stats-output'))).toEqual(withTexts(...names));
  });

  test('the options of 2016 work, and each says what it is called now', async () => {
    const { code, notes, cwd } = await run(['--enable-gvt-stats=1', '--real-time-samp=5']);
    expect(code).toBe(0);
    expect(notes).toEqual([GVT_NOTE, RT_NOTE]);
    expect(filesIn(join(cwd, 'stats-output'))).toEqual(withTexts('gvt', 'rt'));
  });

  test('--model-stats=1 alone samples the model, and not the engine', async () => {
    const { code, cwd } = await run(['--model-stats=1', '--pes=2'], PCS);
    expect(code).toBe(0);
    expect(filesIn(join(cwd, 'stats-output'))).toEqual(withTexts('model'));
    const rows = await rowsOf(join(cwd, 'stats-output'));
    expect(kindsOf(rows)).toEqual(['model']);
    expect(new Set(rows.map((r) => r.lp_id)).size).toBe(8);
  });
});

describe('levels', () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['--granularity=0'], ['pe']],
    [['--granularity=1'], ['kp', 'lp', 'pe']],
    [['--granularity=2'], ['lp']],
    [['--granularity=3'], ['kp', 'lp', 'pe']],
    [['--granularity=1', '--stats-era=ross-7'], ['kp']],
    [['--kp-data=1'], ['kp', 'pe']],
    [['--pe-data=0', '--lp-data=1'], ['lp']],
    [
      ['--pe-data=1', '--kp-data=1', '--lp-data=1'],
      ['kp', 'lp', 'pe'],
    ],
  ];
  test.each(cases)('%j samples %j, which add up to the run', async (options, kinds) => {
    const { cwd, out } = await run(['--engine-stats=1', '--pes=2', '--json', ...options]);
    const { eventsProcessed } = JSON.parse(out);
    const rows = await rowsOf(join(cwd, 'stats-output'));
    expect(kindsOf(rows)).toEqual(kinds);
    for (const kind of kinds) {
      expect([kind, sum(rows, kind, 'events_processed')]).toEqual([kind, eventsProcessed]);
    }
  });
});

test('in real-time samples an explicit --kp-data=0 counts', async () => {
  const { cwd } = await run(['--engine-stats=rt', '--kp-data=0', '--lp-data=1']);
  expect(kindsOf(await rowsOf(join(cwd, 'stats-output')))).toEqual(['lp', 'pe']);
});

test('“off” is a value: a run as ever', async () => {
  const off = ['--engine-stats=0', '--model-stats=0', '--event-trace=0', '--enable-gvt-stats=0'];
  const { code, err, cwd } = await run([
    ...off,
    '--kp-data=1',
    '--stats-path=',
    '--disable-output=1',
  ]);
  expect([code, err, filesIn(cwd)]).toEqual([0, '', []]);
});

test('an option that only says how: a run as ever, and a note', async () => {
  const { code, notes, cwd } = await run(['--stats-path=x']);
  const note =
    'triscope: --stats-path records nothing by itself; add --engine-stats, --model-stats or --event-trace';
  expect([code, notes, filesIn(cwd)]).toEqual([0, [note], []]);
});

describe('traces', () => {
  test.each([
    ['all', 1],
    ['rollbacks', 2],
    ['committed', 3],
  ])('--event-trace=%s is %i', async (word, number) => {
    const counts: number[] = [];
    for (const value of [word, number]) {
      const { cwd, out, code } = await run([`--event-trace=${value}`, '--pes=2', '--json']);
      expect(code).toBe(0);
      const result = JSON.parse(out);
      const expected = {
        all: result.eventsProcessed,
        rollbacks: result.primaryRollbacks,
        committed: result.netEvents,
      }[word];
      const rows = await rowsOf(join(cwd, 'stats-output'));
      expect(rows.length).toBe(expected);
      counts.push(rows.length);
    }
    if (word === 'committed') expect(counts[0]).toBe(counts[1]);
  });
});

test.each([4, 6])(
  '--synch=%i handles events again to prove that they can be undone, and traces each once',
  async (synch) => {
    const trace = async (number: number) => {
      const { cwd, out } = await run([`--synch=${number}`, '--event-trace=1', '--json']);
      const rows = await rowsOf(join(cwd, 'stats-output'));
      expect(rows.length).toBe(JSON.parse(out).eventsProcessed);
      return rows.map(({ real_time, ...row }) => JSON.stringify(row)).sort();
    };
    expect(await trace(synch)).toEqual(await trace(1));
  },
);

test('samples of --synch=4 add up to the run', async () => {
  const { cwd, out } = await run(['--synch=4', '--engine-stats=rt', '--lp-data', '--json']);
  const rows = await rowsOf(join(cwd, 'stats-output'));
  const processed = ['pe', 'kp', 'lp'].map((kind) => sum(rows, kind, 'events_processed'));
  expect(new Set([...processed, JSON.parse(out).eventsProcessed]).size).toBe(1);
});

test('PHOLD has samples and event data, as ROSS’s: each kind of file can be made with it', async () => {
  const { cwd, out } = await run([
    ...['--model-stats=all', '--vt-interval=10', '--event-trace=committed', '--pes=2', '--json'],
  ]);
  const folder = join(cwd, 'stats-output');
  expect(filesIn(folder)).toEqual(withTexts('analysis-lps', 'evtrace', 'model'));
  const rows = await rowsOf(folder);
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  // At 10, 20 … 60; at the end of the run nothing is left to be sampled.
  expect(of('vt_model').length).toBe(16 * 6);
  expect(new Set(of('model').map((row) => row.stats_type))).toEqual(new Set([1, 2]));
  // Decoded, as the README beside the files says what the bytes are.
  for (const row of [...of('model'), ...of('vt_model')]) {
    expect(row.model_data).toEqual({ test_int: 1 });
  }
  expect(of('event').length).toBe(JSON.parse(out).netEvents);
  for (const { source_lp, destination_lp, model_data } of of('event')) {
    expect(model_data).toEqual({ event_type: source_lp === destination_lp ? 0 : 1 });
  }
});

describe('where files go', () => {
  test('--stats-prefix and --stats-path', async () => {
    const { code, cwd, out } = await run([
      '--engine-stats=1',
      '--stats-prefix=mine',
      '--stats-path=deep/er',
    ]);
    expect(code).toBe(0);
    expect(filesIn(join(cwd, 'deep/er'))).toEqual([
      'lp-mapping.txt',
      'mine-README.txt',
      'mine-gvt.bin',
    ]);
    expect(out).toContain('Instrumentation in deep/er:');
  });

  test('--stats-filename is --stats-prefix, and says so', async () => {
    const { notes, cwd } = await run(['--engine-stats=1', '--stats-filename=old']);
    expect(notes).toEqual([
      'triscope: --stats-filename is ROSS’s of 2016; it is --stats-prefix now',
    ]);
    expect(filesIn(join(cwd, 'stats-output'))).toContain('old-gvt.bin');
  });

  test('a folder that is there is left alone: the new one has process and time in its name', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'stats-output'));
    const { code, out } = await triscopeHere(['sim', 'run', ...PHOLD, '--engine-stats=1'], { cwd });
    expect(code).toBe(0);
    expect(filesIn(join(cwd, 'stats-output'))).toEqual([]);
    const [other] = filesIn(cwd).filter((name) => name !== 'stats-output');
    expect(other).toMatch(/^stats-output-\d+-\d{10}$/);
    expect(out).toContain(`Instrumentation in ${other}:`);
    expect(filesIn(join(cwd, other))).toEqual(withTexts('gvt'));
  });

  test('texts say what the binary files do not', async () => {
    const { cwd } = await run(['--engine-stats=1', '--pes=2', '--stats-layout=ross-2017']);
    const readme = readFileSync(join(cwd, 'stats-output/ross-stats-README.txt'), 'utf8');
    expect(readme.split('END\n')[0].trim().split('\n')).toEqual([
      'GRANULARITY=0',
      'NUM_PE=2',
      'NUM_KP=2',
      'LP_PER_PE=8,8',
      'NUM_GVT_VALS_PE=10',
      'LAYOUT=ross-2017',
      'BYTE_ORDER=little',
      'EVENT_TRACE=0',
    ]);
    expect(readme).toMatch(/\n\nInfo for ROSS run\.\n\nDate Created:\t\w{3} \w{3} [ \d]\d /);
    expect(readme).toContain('\n## RUN TIME SETTINGS by GROUP:\n');
    expect(readme).toContain('\n  --engine-stats      gvt\n');
    const mapping = readFileSync(join(cwd, 'stats-output/lp-mapping.txt'), 'utf8');
    const lines = mapping.trim().split('\n');
    // 16 LPs in blocks.
    const expected = Array.from(
      { length: 16 },
      (_, lp) => `${lp >> 3},${(lp >> 2) & 1},${lp},phold`,
    );
    expect(lines).toEqual(['PE,KP,LP,type', ...expected]);
  });
});

describe('layouts are read back, with the totals of the run', () => {
  test.each(['ross-7', 'ross-8.1', 'ross-2017', 'ross-2017-04'])('%s', async (layout) => {
    const { cwd, out } = await run([
      '--engine-stats=3',
      '--rt-interval=5',
      '--granularity=1',
      '--pes=2',
      '--json',
      `--stats-layout=${layout}`,
    ]);
    const result = JSON.parse(out);
    const old = layout.startsWith('ross-2017');
    for (const mode of ['gvt', 'rt']) {
      const rows = await rowsOf(join(cwd, `stats-output/ross-stats-${mode}.bin`));
      const totals = {
        processed: sum(rows, 'lp', 'events_processed'),
        rolledBack: sum(rows, 'lp', 'events_rolled_back'),
        sends: sum(rows, 'lp', 'network_sends'),
        receives: sum(rows, 'lp', 'network_receives'),
        rollbacks: sum(rows, 'kp', 'total_rollbacks'),
        secondary: sum(rows, 'kp', 'secondary_rollbacks'),
        fossil: sum(rows, 'pe', 'fossil_collect_attempts'),
      };
      expect([mode, totals]).toEqual([
        mode,
        {
          processed: result.eventsProcessed,
          rolledBack: result.eventsRolledBack,
          sends: result.remoteSends,
          receives: result.remoteReceives,
          rollbacks: result.totalRollbacks,
          secondary: result.secondaryRollbacks,
          fossil: result.fossilCollects,
        },
      ]);
      if (old) expect(sum(rows, 'lp', 'remote_events')).toBe(result.remoteEvents);
      else expect(sum(rows, 'pe', 'events_processed')).toBe(result.eventsProcessed);
    }
  });
});

test.each(['--kp-data', '--lp-data', '--granularity=2'])(
  'records of 2017 hold all levels or PEs only: %s is all',
  async (level) => {
    const args = ['--engine-stats=1', level, '--stats-layout=ross-2017', '--pes=2', '--json'];
    const { cwd, out } = await run(args);
    const rows = await rowsOf(join(cwd, 'stats-output'));
    expect(kindsOf(rows)).toEqual(['kp', 'lp', 'pe']);
    expect(sum(rows, 'lp', 'events_processed')).toBe(JSON.parse(out).eventsProcessed);
  },
);

test('--help has them under their title', async () => {
  const { code, out } = await triscopeHere(['sim', 'run', 'phold', '--help']);
  expect(code).toBe(0);
  const [, after] = out.split('\nROSS Instrumentation:\n');
  for (const name of ['engine-stats', 'model-stats', 'num-gvt', 'event-trace', 'disable-output']) {
    expect(after).toMatch(new RegExp(`^ {2}--${name}`, 'm'));
  }
});

describe('values that cannot be are one line, and nothing is made', () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['--engine-stats=5'], '--engine-stats=5: must be gvt, rt, vt, a list'],
    [['--engine-stats=4', '--stats-era=ross-2017'], '4 is all in --stats-era=ross-7'],
    [['--model-stats=often'], '--model-stats=often: must be gvt'],
    [['--granularity=4', '--engine-stats=1'], '--granularity=4: must be an integer from 0 to 3'],
    [['--event-trace=5'], '--event-trace=5: must be one of 0 none, 1 all'],
    [['--event-trace='], '--event-trace=: must be one of'],
    [['--engine-stats=2', '--rt-interval=0'], '--rt-interval=0: must be'],
    [['--engine-stats=1', '--num-gvt=0'], '--num-gvt=0: must be'],
    [['--engine-stats=1', '--buffer-size=10'], '--buffer-size=10: must be'],
    [['--engine-stats=1', '--buffer-free=101'], '--buffer-free=101: must be'],
    [['--engine-stats=1', '--stats-prefix=a/b'], '--stats-prefix=a/b: must be the beginning'],
    [['--engine-stats=vt', '--stats-layout=ross-2017'], 'cannot hold virtual-time samples'],
  ];
  test.each(cases)('%j', async (options, message) => {
    const { code, out, notes, cwd } = await run([...options, '--record=a', '--stream=b']);
    expect([code, out, notes.length]).toEqual([2, '', 1]);
    expect(notes[0]).toContain(message);
    expect(filesIn(cwd)).toEqual([]);
  });

  test('a model with nothing to sample: a note', async () => {
    const { code, notes } = await run(['--model-stats=1', '--end=2'], ['torus']);
    expect([code, notes.length]).toEqual([0, 1]);
    expect(notes[0]).toContain('torus');
  });
});

describe('--record', () => {
  test('makes a folder that says what is in it', async () => {
    const { cwd, out } = await run(
      ['--record=a', '--pes=2', '--engine-stats=gvt', '--model-stats=gvt', '--json'],
      PCS,
    );
    const folder = join(cwd, 'a.tri');
    expect(filesIn(folder)).toEqual([
      'extra.frames',
      'recording.json',
      'sim-result.json',
      'stats-output',
    ]);
    expect(filesIn(join(folder, 'stats-output'))).toEqual(withTexts('gvt', 'model'));
    const recording = JSON.parse(readFileSync(join(folder, 'recording.json'), 'utf8'));
    expect(recording.state).toBe('finished');
    const [source] = recording.sources;
    expect(source.zero).toMatch(/^\d{19}$/);
    expect(source.droppedBytes).toBe(0);
    const paths = source.files.map((f: { path: string }) => f.path);
    expect(paths.sort()).toEqual([
      'extra.frames',
      'sim-result.json',
      ...withTexts('gvt', 'model').map((name) => `stats-output/${name}`),
    ]);
    const model = source.files.find((f: { path: string }) => f.path.endsWith('-model.bin'));
    expect(model.payload.length).toBeGreaterThan(0);
    expect(model.payload[0]).toMatchObject({ at: 0, name: expect.any(String) });
    expect(recording.pes.map((p: { pe: number }) => p.pe)).toEqual([0, 1]);
    expect(recording.pes.every((p: { threadId: number }) => p.threadId > 0)).toBe(true);
    expect(JSON.parse(out).recording).toBe('a.tri');
    const [sample] = (await rowsOf(folder)).filter((r) => r.kind === 'model');
    expect(sample).toHaveProperty('model_data.busy');
  });

  test('--engine-stats=0: no samples', async () => {
    const { code, err, cwd } = await run(['--engine-stats=0', '--record=a', '--pes=2']);
    expect([code, err]).toEqual([0, '']);
    expect(filesIn(join(cwd, 'a.tri'))).toEqual([
      'extra.frames',
      'recording.json',
      'sim-result.json',
    ]);
    const info = await triscopeHere(['info', join(cwd, 'a.tri'), '--json']);
    expect([info.code, info.err]).toEqual([0, '']);
    expect(JSON.parse(info.out)).toMatchObject({
      files: [],
      recordings: [{ recording: { state: 'finished' } }],
    });
    // Rollbacks, if there are any, are no samples.
    const sql =
      "SELECT table_name AS t FROM information_schema.tables WHERE t LIKE 'ross_%' AND t <> 'ross_rollback'";
    const tables = await triscopeHere(['query', join(cwd, 'a.tri'), sql, '--csv']);
    expect(tables.out).toBe('t\n');
  });

  test('samples in real time where nothing else is asked for', async () => {
    const { cwd } = await run(['--record=a', '--pes=2']);
    expect(filesIn(join(cwd, 'a.tri/stats-output'))).toEqual(withTexts('rt'));
  });
});

describe('--stream', () => {
  const schemasOf = (bytes: Uint8Array) => {
    const decoder = new FrameDecoder();
    const names = decoder.push(bytes).map((batch) => batch.schema.name);
    expect(decoder.lost).toBe(0);
    return new Set(names);
  };

  test('to a file: frames of what is sampled, and no other file', async () => {
    const { code, cwd, out } = await run(['--stream=f', '--engine-stats=gvt', '--disable-output']);
    expect([code, filesIn(cwd)]).toEqual([0, ['f']]);
    expect(out).toContain('TW Library Statistics');
    expect(schemasOf(readFileSync(join(cwd, 'f')))).toContain('sim_stream');
  });

  test('to standard output: the report is on stderr then', async () => {
    const chunks: Buffer[] = [];
    const { code, err } = await triscope(
      ['sim', 'run', ...PHOLD, '--pes=2', '--stream=-', '--engine-stats=gvt'],
      {
        cwd: temporaryFolder(),
        meanwhile: (child) => child.stdout?.on('data', (data) => chunks.push(data)),
      },
    );
    expect(code).toBe(0);
    expect(err).toContain('Net Events Processed');
    const schemas = schemasOf(Buffer.concat(chunks));
    expect(schemas).toContain('ross_pe');
    expect(schemas).toContain('sim_stream');
  });
});
