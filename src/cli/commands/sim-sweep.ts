/** `triscope sim sweep MODEL --vary NAME=VALUES …`: many settings, several seeds, means with their intervals. */
import { flag, float, int, text } from '../../model/option.ts';
import { checkPage, writePage } from '../../report/write-page.ts';
import type { LoadedModel } from '../../sim/load-model.ts';
import { parseMeasure } from '../../sim/sweep/measure.ts';
import { sweepPage } from '../../sim/sweep/page.ts';
import { type SweepOptions, type SweepResult, shownPoint, sweep } from '../../sim/sweep/sweep.ts';
import { writeSweepParquet } from '../../sim/sweep/table.ts';
import { parseVary } from '../../sim/sweep/vary.ts';
import { type Call, command, type OptionGroup } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import {
  ARGS_FILE_OPTION,
  modelExtension,
  RUNS_MODEL,
  type RunCommand,
  runCommandOf,
} from '../run-command.ts';
import { figure, table } from '../table.ts';
import { version } from '../version.ts';

const SWEEP = {
  vary: {
    ...text(
      '',
      'an option of the model, end or lookahead, with its values: A,B, FROM..TO, FROM..TO:STEP',
      {
        placeholder: 'NAME=VALUES',
      },
    ),
    many: true,
  },
  replications: int(10, 'runs of each point, with different seeds', { min: 1 }),
  'until-ci': text('', 'more runs until no interval’s half-width exceeds this part of its mean', {
    placeholder: '5%',
  }),
  'most-replications': int(1000, 'maximum runs of each point, with --until-ci', { min: 2 }),
  confidence: float(0.95, 'probability that an interval covers the mean', {
    min: 0.5,
    max: 0.9999,
  }),
  measure: {
    ...text('', 'a total or maximum of the model’s results, or a quotient of two', {
      placeholder: 'NAME=A/B',
      fallback: 'every total and maximum',
    }),
    many: true,
  },
  jobs: int(0, 'concurrent runs', { min: 0, fallback: 'CPUs of this machine' }),
  share: text('', 'run only this part of the sweep, as 1/8 to 8/8', {
    placeholder: 'K/N',
    fallback: 'the task of a Slurm array, else all',
  }),
  output: text('', 'append each run to FILE; runs that are in it are not repeated', {
    placeholder: 'FILE',
    short: 'o',
    names: 'path',
  }),
  html: text('', 'write the response curves to FILE, a page that needs nothing else', {
    placeholder: 'FILE',
    names: 'path',
  }),
  parquet: text('', 'write a row for each run to FILE', {
    placeholder: 'FILE',
    names: 'path',
  }),
  json: flag(false, 'print one JSON object'),
} as const;
const OPTIONS = { ...SWEEP, ...ARGS_FILE_OPTION };
const GROUPS: readonly OptionGroup[] = [{ title: 'Sweep', options: SWEEP }];

/** `5%` or `0.05`. @throws UsageError */
function partOf(given: string): number {
  const [, digits, percent] = /^(\d*\.?\d+)(%?)$/.exec(given) ?? [];
  const part = Number(digits) / (percent === '%' ? 100 : 1);
  if (!(part > 0)) throw new UsageError(`--until-ci=${given}: use a part of the mean, such as 5%`);
  return part;
}

/** The part of the sweep that is asked for, or that a Slurm array gives this task. @throws UsageError */
export function shareOf(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SweepOptions['share'] {
  if (given !== undefined && given !== '') {
    const [, k, n] = /^(\d+)\/(\d+)$/.exec(given)?.map(Number) ?? [];
    if (k === undefined || k < 1 || k > n)
      throw new UsageError(`--share=${given}: use K/N, such as 1/8 to 8/8`);
    return { index: k - 1, of: n };
  }
  const [id, count, least, step] = ['ID', 'COUNT', 'MIN', 'STEP'].map((name) =>
    Number(env[`SLURM_ARRAY_TASK_${name}`] ?? Number.NaN),
  );
  if (Number.isNaN(id) || !(count > 1)) return undefined;
  return { index: Math.round((id - (least || 0)) / (step || 1)), of: count };
}

function optionsOf({ own, loaded: { model }, settings }: RunCommand<typeof OPTIONS>): SweepOptions {
  if ((settings.pes ?? 1) > 1 || (settings.synch ?? 'sequential') !== 'sequential') {
    throw new UsageError(
      'runs of a sweep are sequential, several at once: leave --pes and --synch out, and see --jobs',
    );
  }
  const until = own['until-ci'];
  const share = shareOf(own.share, process.env);
  if (share !== undefined && own.output === undefined) {
    throw new UsageError('a share of a sweep must be written to a file: add -o FILE');
  }
  return {
    vary: (own.vary ?? []).map((word) => parseVary(word, model)),
    replications: own.replications ?? SWEEP.replications.default,
    ...(until !== undefined && { untilWidth: partOf(until) }),
    mostReplications: own['most-replications'] ?? SWEEP['most-replications'].default,
    confidence: own.confidence ?? SWEEP.confidence.default,
    measures: (own.measure ?? []).map(parseMeasure),
    ...(own.jobs !== undefined && own.jobs > 0 && { jobs: own.jobs }),
    ...(own.output !== undefined && { file: own.output }),
    ...(share !== undefined && { share }),
  };
}

/** Runs it. Returns the exit code. @throws what a user did wrong, or a run */
async function run(call: Call<typeof OPTIONS, LoadedModel | null>): Promise<number> {
  const asked = runCommandOf(call, OPTIONS);
  const options = optionsOf(asked);
  const { html, parquet } = asked.own;
  if (html !== undefined) checkPage(html, '--html');
  if (parquet !== undefined) checkPage(parquet, '--parquet');
  const interrupt = onInterrupt();
  const progress = new ProgressLine(0);
  try {
    const { synch: _, pes: __, ...settings } = asked.settings;
    const result = await sweep(asked.loaded, settings, {
      ...options,
      signal: interrupt.signal,
      onRun: ({ point }, known, wanted) =>
        progress.show(`${known}/${wanted}  ${shownPoint(point)}`),
    });
    progress.clear();
    if (html !== undefined) writePage(html, sweepPage(result, `triscope ${version()}`));
    if (parquet !== undefined) await writeSweepParquet(result, parquet, options.measures);
    process.stdout.write(
      asked.own.json === true ? `${JSON.stringify(result, null, 2)}\n` : sweepText(result, options),
    );
    return interrupt.signal.aborted ? EXIT.interrupted : 0;
  } finally {
    progress.clear();
    interrupt.release();
  }
}

/** Cells with a mean and the half-width of its confidence interval. */
function cells({ points }: SweepResult): string[][] {
  const measures = [...new Set(points.flatMap((one) => Object.keys(one.measures)))];
  const names = Object.keys(points[0].point);
  return [
    [...names, 'runs', ...measures.flatMap((name) => [name, '±'])],
    ...points.map(({ point, replications, measures: known }) => [
      ...names.map((name) => String(point[name])),
      String(replications),
      ...measures.flatMap((name) => {
        const one = known[name];
        if (one === undefined) return ['-', '-'];
        return [
          figure(one.mean),
          one.high === null ? '-' : Number((one.high - one.mean).toPrecision(3)).toString(),
        ];
      }),
    ]),
  ];
}

function sweepText(result: SweepResult, { untilWidth, share, file }: SweepOptions): string {
  const [header, ...rows] = cells(result);
  const percent = figure(result.confidence * 100);
  const wanting = result.complete
    ? []
    : [
        share !== undefined
          ? `share ${share.index + 1} of ${share.of}: the table shows the runs known so far; once all shares have ended, the same command without a share shows all`
          : untilWidth !== undefined
            ? 'not all intervals are as narrow as requested: raise --most-replications'
            : `interrupted${file === undefined ? '' : `; the same command continues from ${file}`}`,
      ];
  return `${[
    ...table(header, rows),
    '',
    `${result.model}: means with their intervals of ${percent} % (${result.method})`,
    ...wanting,
  ].join('\n')}\n`;
}

export const simSweep = command({
  ...RUNS_MODEL,
  about:
    'Runs MODEL for every combination of the values that --vary gives, each with several seeds, and prints the mean of each measure with its confidence interval. Runs are sequential, and as many at once as there are CPUs; each replication has random streams of its own, the same ones at each point. --html=FILE draws response curves, --parquet=FILE has a row for each run. With -o FILE each run is kept as a line of JSON, and the same command resumes where it ended. Under Slurm, each task of an array runs its share and writes a file next to FILE; the same command afterwards shows all results.',
  options: OPTIONS,
  groups: GROUPS,
  examples: [
    'sim sweep queueing --vary end=200,400 --replications=5',
    'sim sweep phold --vary lookahead=0.1,0.5 --vary remote=0.1..0.5:0.2 --total-lps=64 --end=50 -o sweep.jsonl --html=curves.html',
  ],
  extend: modelExtension(GROUPS),
  run,
});
