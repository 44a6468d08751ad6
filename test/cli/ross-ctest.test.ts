/**
 * The command lines of ROSS's own CTest suite for instrumentation, word for word, on the transport that they use: which
 * files they leave, and what is in them. `--end=1001` and `--vt-interval=1000` shorten them; TRISCOPE_FULL=1 runs them whole.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HAS_MPI, NEEDS_MPI, ranksOf } from '../sim/support/mpirun.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const VT = '--extramem=100000 --vt-interval=10000 --vt-samp-end=100000';
const PE = `--engine-stats=4 --event-trace=2 ${VT}`;
const LP = `--engine-stats=4 --event-trace=2 --kp-data=1 --lp-data=1 ${VT}`;

/** Kinds of records by the end of the file's name; `rt` holds KPs where nobody says no. */
const PES = { 'analysis-lps': ['pe'], gvt: ['pe'], rt: ['kp', 'pe'] };
const ALL = ['kp', 'lp', 'pe'];
const LPS = { 'analysis-lps': ALL, gvt: ALL, rt: ALL };
const EVENTS = { evtrace: ['event'] };

type Files = Readonly<Record<string, readonly string[]>>;

const LINES: readonly (readonly [name: string, ranks: number, args: string, files: Files])[] = [
  ['OptPE', 2, `--synch=3 ${PE}`, { ...PES, ...EVENTS }],
  ['OptLP', 2, `--synch=3 ${LP}`, { ...LPS, ...EVENTS }],
  ['RTOptPE', 2, `--synch=5 ${PE}`, { ...PES, ...EVENTS }],
  ['RTOptLP', 2, `--synch=5 ${LP}`, { ...LPS, ...EVENTS }],
  // Conservative runs have no rollbacks to trace.
  ['ConsPE', 2, `--synch=2 ${PE}`, { ...PES, evtrace: [] }],
  ['ConsLP', 2, `--synch=2 ${LP}`, { ...LPS, evtrace: [] }],
  ['Seq', 1, '--synch=1 --event-trace=1 --extramem=100000', EVENTS],
  [
    'Model',
    2,
    `--synch=3 --model-stats=4 --event-trace=2 ${VT}`,
    { 'analysis-lps': ['vt_model'], model: ['model'], ...EVENTS },
  ],
  ['DisableOutput', 2, `--synch=3 --engine-stats=4 --disable-output=1 ${VT}`, {}],
  ['ForceOverflow', 2, '--synch=3 --event-trace=1 --buffer-free=0 --extramem=100000', EVENTS],
  ['FullEventTrace', 2, '--synch=3 --event-trace=1 --extramem=100000', EVENTS],
  ['RBEventTrace', 2, '--synch=3 --event-trace=2 --extramem=100000', EVENTS],
];

const WHOLE = process.env.TRISCOPE_FULL === '1';

interface Described {
  readonly path: string;
  readonly records: Readonly<Record<string, number>>;
}

/** Records by kind of each file in `folder`. */
async function recordsIn(folder: string): Promise<Map<string, Described['records']>> {
  const { out } = await triscopeHere(['info', folder, '--json']);
  const files: readonly Described[] = JSON.parse(out).files;
  return new Map(
    files.map(({ path, records }) => [/ross-stats-(.*)\.bin$/.exec(path)?.[1] ?? path, records]),
  );
}

describe.skipIf(!HAS_MPI)(`ROSS’s own tests of instrumentation${NEEDS_MPI}`, () => {
  test.each(LINES)('%s', async (_name, ranks, args, files) => {
    const parent = temporaryFolder();
    const folder = join(parent, 'stats-output');
    const given = WHOLE ? args : `${args.replace('interval=10000', 'interval=1000')} --end=1001`;
    const line = ['sim', 'run', 'phold', ...given.split(' ')];
    const more = ['--json', `--stats-path=${folder}`];
    const run = ranks === 1 ? triscope([...line, ...more]) : ranksOf(ranks, [...line, ...more]);
    const { code, out, err } = await run;
    expect(err).toMatch(/^triscope: --extramem has no effect here: .*\n$/);
    expect(code).toBe(0);
    const result = JSON.parse(out);
    expect(result).toMatchObject({
      pes: ranks,
      netEvents: 8 * ranks * ((WHOLE ? 100_000 : 1001) - 1),
    });
    const names = Object.keys(files).sort();
    if (names.length === 0) {
      expect(readdirSync(parent)).toEqual([]);
      return;
    }
    const binaries = readdirSync(folder).filter((file) => file.endsWith('.bin'));
    expect(binaries).toEqual(names.map((file) => `ross-stats-${file}.bin`));
    const records = await recordsIn(folder);
    for (const [file, kinds] of Object.entries(files)) {
      expect([file, Object.keys(records.get(file) ?? {}).sort()]).toEqual([file, kinds]);
    }
    if (records.has('evtrace')) {
      const traced = args.includes('--event-trace=1')
        ? result.eventsProcessed
        : result.primaryRollbacks;
      expect(records.get('evtrace')?.event ?? 0).toBe(traced);
    }
    // As many sampling points as there are times in virtual time, whose entities are known.
    const points = WHOLE ? 10 : 1;
    const vt = records.get('analysis-lps');
    if (vt?.pe !== undefined) expect(vt.pe).toBe(points * ranks);
    if (vt?.lp !== undefined) expect([vt.kp, vt.lp]).toEqual([points * ranks * 16, points * 16]);
    if (vt?.vt_model !== undefined) expect(vt.vt_model).toBe(points * 16);
    const gvt = records.get('gvt');
    if (gvt !== undefined) {
      const samples = gvt.pe / ranks;
      // Only GVTs that come after --gvt-interval turns count; early ones, of PEs that wait, are not sampled.
      expect(samples % 1).toBe(0);
      expect(samples).toBeGreaterThan(1);
      expect(samples).toBeLessThanOrEqual(result.gvtComputations / 10 + 2);
    }
  });
});
