/** Processors that slow down because they are too hot. */
import {
  asRows,
  expecting,
  type FindingRule,
  graded,
  OWN,
  percent,
  short,
  whole,
} from './finding.ts';
import { type LossWindow, stretchOf, when } from './when.ts';

const SOME = {
  value: 0.01,
  unit: 'share',
  means: 'of the time a package had slowed down: notice',
  source: `${OWN}: a processor that is cooled well never slows down`,
};
const MUCH = { value: 0.1, unit: 'share', means: 'of the time: problem', source: OWN };
const LONG = {
  value: 1,
  unit: 's',
  means: 'of samples at least: less proves nothing',
  source: OWN,
};

const SQL = `SELECT host, package, sum(throttled_time * (t - t0)) / 1000 / sum(t - t0) AS share, sum(throttles * (t - t0)) AS throttles, sum(t - t0) AS seconds
FROM process_heat_rate GROUP BY host, package HAVING sum(t - t0) >= ${LONG.value} ORDER BY share DESC, host, package`;
const WINDOWS =
  'SELECT host, package, t0, t, throttled_time / 1000 AS lost FROM process_heat_rate ORDER BY t0';

interface Package {
  readonly host: string;
  readonly package: number;
  readonly share: number;
  readonly throttles: number;
  readonly seconds: number;
}

export const HEAT: FindingRule = {
  name: 'heat',
  title: 'processors throttled because they are too hot',
  looks:
    'Measures for how long each processor package was slowed down because of its temperature, as the kernel counts it (thermal_throttle/package_throttle_total_time_ms).',
  needs: ['process_heat_rate'],
  thresholds: { SOME, MUCH, LONG },
  knob: 'Tell the operators: fans, filters, the room. Until then leave the host out (--exclude), or run with fewer busy cores.',
  explains: ['low-frequency', 'late-rank', 'rank-imbalance'],
  async run({ recording }) {
    const all = await recording.query<Package>(SQL);
    const [worst] = all;
    const severity = graded(worst?.share ?? 0, SOME, MUCH);
    if (worst === undefined || severity === null) return [];
    const windows = await recording.query<LossWindow & { host: string; package: number }>(WINDOWS);
    const stretch = stretchOf(
      windows.filter((one) => one.host === worst.host && one.package === worst.package),
    );
    return [
      {
        severity,
        sentence: `Processor package ${worst.package} of ${worst.host} had slowed down for heat for ${percent(worst.share)} of the time, ${whole(worst.throttles)} times in ${short(worst.seconds)} s${when(stretch)}.`,
        evidence: { sql: SQL, rows: asRows([{ ...worst, ...stretch }, ...all.slice(1)]) },
        ...expecting(
          this.knob,
          worst.share / 2,
          'a package that is too hot runs at about half its speed',
        ),
      },
    ];
  },
};
