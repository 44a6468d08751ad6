/** ROSS's own command lines: every option and default of it is known, and means what it means there. */
import { readFileSync } from 'node:fs';
import { configFor, loadModel } from 'triscope/sim';
import { describe, expect, test } from 'vitest';
import type { OptionGroup, SingleValue } from '../../src/cli/command.ts';
import { INSTRUMENT_GROUP, instrumentRequest } from '../../src/cli/instrumentation.ts';
import { ARGS_FILE_OPTION, engineGroups, RUNS_MODEL } from '../../src/cli/run-command.ts';
import { readWords } from '../../src/cli/words.ts';
import { instrumentConfig } from '../../src/sim/instrument/options.ts';
import { HAS_MPI, NEEDS_MPI, ranksOf } from '../sim/support/mpirun.ts';
import { NATIVE_OPTIONS } from './support/native-options.ts';
import { temporaryFolder, triscope } from './support/run.ts';

function parseOptions(args: readonly string[], groups: readonly OptionGroup[]) {
  const { prefixes, argsFile } = RUNS_MODEL;
  const all = [...groups, { title: 'Options', options: ARGS_FILE_OPTION }];
  const parsed = readWords(args, all, { arguments: 'none', prefixes, argsFile });
  return { ...parsed, values: parsed.values as ReadonlyMap<string, SingleValue> };
}

const phold = (await loadModel('phold')).model;
const pcs = (await loadModel('pcs')).model;
const GROUPS = [
  { title: 'Model phold', options: phold.options },
  ...engineGroups(phold),
  INSTRUMENT_GROUP,
];
const parse = (...args: string[]) => parseOptions(args, GROUPS);
const values = (...args: string[]) => Object.fromEntries(parse(...args).values);
const instrument = (...args: string[]) =>
  instrumentConfig(parseOptions(args, [INSTRUMENT_GROUP]).values, 100);
/** What is recorded: `gvt`, `rt`, `vt` of the engine. */
const engine = (...args: string[]) => {
  const { config } = instrument(...args);
  return (['gvt', 'rt', 'vt'] as const).filter((mode) => config.engine[mode]).join(' ');
};
const request = (recording: string | null, ...args: string[]) =>
  instrumentRequest(
    parseOptions(args, [INSTRUMENT_GROUP]).values,
    { run: configFor(phold, { end: 100 }), groups: GROUPS },
    recording,
    null,
  );

describe('every option of ROSS’s --help', () => {
  const described = NATIVE_OPTIONS.filter(([name]) => name !== 'args-file' && name !== 'help');

  test.each(described)('--%s=%s is known, with its default there', (name, _takes, fallback) => {
    expect(() => parse(`--${name}=${fallback}`)).not.toThrow();
  });

  test('has a row in docs/simulator.md, and no other has', () => {
    const page = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `--([\w-]+)(?:=(\w+))?` \|([^|]*)\| ([^|]+) \|$/gm)];
    const same = (row: string, fallback: string) =>
      row === fallback || (row !== '' && Number(row) === Number(fallback));
    expect(rows.map(([, name, takes = 'nothing']) => [name, takes])).toEqual(
      NATIVE_OPTIONS.map(([name, takes]) => [name, takes]),
    );
    const MEANT: Readonly<Record<string, string>> = {
      'max-opt-lookahead': 'no bound',
      'stats-prefix': 'ross-stats',
      'stats-path': 'stats-output',
    };
    for (const [k, [name, , fallback]] of NATIVE_OPTIONS.entries()) {
      const row = rows[k][3].trim();
      expect([name, row === MEANT[name] || same(row, fallback)]).toEqual([name, true]);
    }
  });

  test('given with its default all change nothing but --num-gvt', () => {
    const given = described.map(([name, , fallback]) => `--${name}=${fallback}`);
    const plain = instrument().config;
    expect(
      instrument(...given.filter((g) => INSTRUMENT_GROUP.options[g.slice(2).split('=')[0]])).config,
    ).toEqual({
      ...plain,
      kpsInRt: false,
      numGvt: 10,
    });
    const { values: all } = parse(...given);
    for (const [name, value] of all) {
      const [, spec] =
        GROUPS.flatMap(({ options }) => Object.entries(options)).find(([n]) => n === name) ?? [];
      if (['num-gvt', 'max-opt-lookahead', 'engine-stats', 'model-stats'].includes(name)) continue;
      expect([name, value]).toEqual([name, spec?.default]);
    }
    expect(
      ['synch', 'rng-seed1', 'core-rng-seed4', 'stats-prefix', 'stats-path'].some((n) =>
        all.has(n),
      ),
    ).toBe(false);
  });

  test('by any beginning of it: the first in ROSS’s order', () => {
    expect(values('--ru=x', '--co=0.5', '--cor=0', '--sa=9')).toEqual({
      run: 'x',
      'sample-count': 9,
    });
    expect(parse('--h=1').help).toBe(true);
    expect(parse('--help=1').help).toBe(true);
    expect(parse('--help').help).toBe(true);
  });
});

describe('names that are one option', () => {
  test('--cons-lookahead is --lookahead, the later wins; PHOLD has its own', () => {
    const groups = engineGroups(pcs);
    const lookahead = (...args: string[]) => parseOptions(args, groups).values.get('lookahead');
    expect(lookahead('--cons-lookahead=0.5')).toBe(0.5);
    expect(lookahead('--lookahead=1', '--cons-lookahead=0.5')).toBe(0.5);
    expect(lookahead('--cons-lookahead=0.5', '--lookahead=1')).toBe(1);
    const { values: own, notes } = parse('--cons-lookahead=0.5');
    expect([...own]).toEqual([]);
    expect(notes).toEqual([
      '--cons-lookahead has no effect here: phold takes --lookahead, as ROSS’s does',
    ]);
  });

  test('the prefix by its name of 2016 or today’s: the later', () => {
    const prefix = (...args: string[]) => instrument(...args).files.prefix;
    expect(prefix('--stats-filename=old', '--stats-prefix=new')).toBe('new');
    expect(prefix('--stats-prefix=new', '--stats-filename=old')).toBe('old');
    expect(prefix('--stats-filename=old', '--stats-prefix=')).toBe('ross-stats');
  });

  test.each([
    [['--enable-gvt-stats=1', '--engine-stats=0'], ''],
    [['--engine-stats=0', '--enable-gvt-stats=1'], 'gvt'],
    [['--engine-stats=gvt,rt', '--enable-gvt-stats=0'], 'rt'],
    [['--engine-stats=gvt', '--real-time-samp=5'], 'gvt rt'],
    [['--real-time-samp=5', '--real-time-samp=0'], ''],
    [['--engine-stats=1', '--engine-stats=2'], 'rt'],
    [['--engine-stats=vt', '--engine-stats=0', '--engine-stats=gvt'], 'gvt'],
  ])('%j samples “%s”', (options, modes) => {
    expect(engine(...options)).toBe(modes);
  });

  test('of two intervals of real time the later counts', () => {
    const interval = (...args: string[]) => instrument(...args).config.rtInterval;
    expect(interval('--real-time-samp=5', '--rt-interval=20')).toBe(20);
    expect(interval('--rt-interval=20', '--real-time-samp=5')).toBe(5);
    expect(interval('--rt-interval=20', '--real-time-samp=5', '--rt-interval=7')).toBe(7);
  });
});

describe('“off” is a value', () => {
  test.each(['engine-stats', 'model-stats', 'event-trace', 'enable-gvt-stats', 'real-time-samp'])(
    '--%s=0 records nothing and says nothing',
    (name) => {
      const { config, notes, output } = request(null, `--${name}=0`, '--kp-data=1');
      expect([notes, output.files, config.rollbacks, config.phases]).toEqual([
        [],
        null,
        false,
        false,
      ]);
      expect([config.engine, config.model]).toEqual([
        { gvt: false, rt: false, vt: false },
        { gvt: false, rt: false, vt: false },
      ]);
      expect(config.trace).toBe('none');
    },
  );

  test.each(['stats-path=x', 'kp-data=1', 'disable-output=1', 'num-gvt=3', 'vt-interval=4'])(
    '--%s alone is said to record nothing by itself',
    (option) => {
      const name = option.replace(/=.*/, '');
      expect(request(null, `--${option}`).notes).toEqual([
        `--${name} records nothing by itself; add --engine-stats, --model-stats or --event-trace`,
      ]);
    },
  );

  test('--record samples by itself unless --engine-stats=0, with what is said of it', () => {
    const of = (...args: string[]) => {
      const { engine: modes, levels, kpsInRt, rtInterval } = request('a.tri', ...args).config;
      return { rt: modes?.rt, levels, kpsInRt, rtInterval };
    };
    const levels = { pe: true, kp: true, lp: false };
    expect(of()).toEqual({ rt: true, levels, kpsInRt: true, rtInterval: 10 });
    expect(of('--event-trace=0', '--model-stats=0')).toEqual(of());
    expect(of('--engine-stats=0').rt).toBe(false);
    expect(of('--kp-data=0', '--lp-data=1', '--rt-interval=50')).toEqual({
      rt: true,
      levels: { pe: true, kp: false, lp: true },
      kpsInRt: false,
      rtInterval: 50,
    });
  });
});

describe('numbers whose meaning changed', () => {
  const OLD =
    '--engine-stats=3 is taken for gvt and rt, as in ROSS of 2017 (vt in ROSS 7); words are never ambiguous';
  const NEW =
    '--engine-stats=3 is taken for vt, as in ROSS 7 (gvt and rt in ROSS of 2017); words are never ambiguous';
  const KPS =
    '--granularity=1 is taken for KPs, as in ROSS of 2018 (PEs, KPs and LPs in ROSS of 2017); --kp-data and --lp-data are never ambiguous';
  const THREE = '--engine-stats=3';
  const since = [
    'vt-interval=10',
    'vt-samp-end=9',
    'sample-count=9',
    'pe-data=0',
    'kp-data=0',
    'lp-data=0',
  ];
  const cases: readonly (readonly [readonly string[], string, readonly string[]])[] = [
    [[THREE], 'gvt rt', [OLD]],
    [[THREE, '--num-gvt=4', '--event-trace=3'], 'gvt rt', [OLD]],
    [[THREE, '--stats-era=ross-2017'], 'gvt rt', []],
    [[THREE, '--stats-era=ross-7'], 'vt', []],
    [[THREE, '--granularity=1'], 'gvt rt', []],
    [[THREE, '--granularity=2'], 'vt', []],
    [[THREE, '--vt-interval=10', '--kp-data=1'], 'vt', []],
    ...since.map((option) => [[THREE, `--${option}`], 'vt', []] as const),
    [['--engine-stats=4'], 'gvt rt vt', []],
    [['--model-stats=4', THREE], 'vt', []],
    [[THREE, '--vt-interval=10', '--granularity=0'], 'vt', [NEW]],
    [[THREE, '--vt-interval=10', '--granularity=1'], 'vt', [NEW, KPS]],
    [['--engine-stats=1', '--vt-interval=10'], 'gvt', []],
    [['--engine-stats=gvt,rt', '--vt-interval=10'], 'gvt rt', []],
  ];
  test.each(cases)('%j is “%s”', (options, modes, notes) => {
    expect([engine(...options), instrument(...options).notes]).toEqual([modes, notes]);
  });

  test('--granularity=1 is as many levels as the era of the number beside it says', () => {
    const levels = (...args: string[]) => instrument(...args).config.levels;
    const all = { pe: true, kp: true, lp: true };
    expect(levels('--engine-stats=4', '--granularity=1')).toEqual({
      pe: false,
      kp: true,
      lp: false,
    });
    expect(levels(THREE, '--granularity=1')).toEqual(all);
    expect(levels('--engine-stats=all', '--vt-interval=5', '--granularity=1')).toEqual(all);
  });
});

describe('-- ends the options', () => {
  test('what follows is not read, and a line says so', () => {
    const { values: read, notes } = parse('--nkp=3', '--', '--nkp=5', 'x');
    expect([...read]).toEqual([['nkp', 3]]);
    expect(notes).toEqual(['the 2 words after -- are not read']);
    expect(parse('--nkp=3', '--').notes).toEqual([]);
  });
});

describe('as a user calls it', () => {
  const RUN = ['sim', 'run', 'phold', '--end=10', '--total-lps=8'];

  test('--help=1 shows the help; all defaults of ROSS together, and --, give ROSS’s run', async () => {
    const help = await triscope(['sim', 'run', 'phold', '--help=1']);
    expect([help.code, help.err]).toEqual([0, '']);
    expect(help.out).toContain('\nROSS Instrumentation:\n');
    const given = NATIVE_OPTIONS.filter(
      ([name, takes]) => takes !== 'nothing' && takes !== 'file' && name !== 'end',
    ).map(([name, , fallback]) => `--${name}=${fallback}`);
    const folder = temporaryFolder();
    const { code, out, err } = await triscope(
      ['sim', 'run', 'phold', ...given, '--end=10', '--json', '--', 'x'],
      {
        cwd: folder,
      },
    );
    expect(code).toBe(0);
    // ROSS 8.1: phold --synch=1 --end=10.
    expect(JSON.parse(out)).toMatchObject({ netEvents: 72, eventsPastEnd: 8, synch: 1 });
    const lines = err.trim().split('\n');
    expect(lines.filter((line) => / has no effect here: /.test(line)).length).toBe(8);
    expect(lines).toContain('triscope: the word after -- is not read');
  });

  test('--report-interval: GVT in a piped log, to the end', async () => {
    const { code, err } = await triscope([...RUN, '--end=20000', '--report-interval=0.25']);
    const shares = err
      .trim()
      .split('\n')
      .map((line) => Number(/^GVT [\d.]+ {2}(\d+) % /.exec(line)?.[1]));
    expect(code).toBe(0);
    expect(shares.at(-1)).toBe(100);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect((await triscope(RUN)).err).toBe('');
  });

  test.skipIf(!HAS_MPI)(`mpirun with --synch=1 is told what is wrong${NEEDS_MPI}`, async () => {
    const { code, out, err } = await ranksOf(2, [...RUN, '--synch=1']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(
      'triscope: --synch=sequential runs on one PE, but there are 2 ranks: start it without mpirun, or with -np 1 (rank 0)\n',
    );
    expect(err).not.toContain('--pes');
  });
});
