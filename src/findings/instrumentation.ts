/** Instrumentation that changes what it measures: PEs wait for the recorder, or records are lost. */
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
  whole,
} from './finding.ts';
import { ROLLBACK_SIGNS } from './samples.ts';

const SOME = {
  value: 0.02,
  unit: 'share',
  means: 'of a PE’s time was spent waiting for a free buffer: notice',
  source: OWN,
};
const MUCH = { value: 0.1, unit: 'share', means: 'waiting: problem', source: OWN };
const SAMPLING = {
  value: 0.1,
  unit: 'share',
  means: 'of a PE’s time was spent taking samples: notice',
  source: OWN,
};
const MUCH_SAMPLING = { value: 0.25, unit: 'share', means: 'taking samples: problem', source: OWN };
const LOST = {
  value: 1,
  unit: '{record}',
  means: 'records lost: notice',
  source: `${OWN}: sums over samples are then too low`,
};

const SQL = `SELECT pe_id, stream, bytes, waited / 1000 AS waited_s, real_time AS seconds,
  dropped_records, dropped AS dropped_bytes
FROM sim_stream ORDER BY waited DESC, dropped_records DESC, pe_id, stream`;

const SAMPLES = `SELECT pe_id, sum(sampling_time) AS sampling_time, any_value(wall) AS seconds, any_value(gvts) AS gvts
FROM sim_pe, sim_run GROUP BY pe_id ORDER BY sampling_time DESC, pe_id`;

async function sampling({ recording, has }: Subject): Promise<FindingParts[]> {
  if (!(has('sim_pe.sampling_time') && has('sim_run.wall'))) return [];
  const rows = await recording.query<{ pe_id: number; sampling_time: number; seconds: number }>(
    SAMPLES,
  );
  const [worst] = rows;
  const share = worst === undefined ? 0 : worst.sampling_time / Math.max(worst.seconds, 1e-9);
  const severity = graded(share, SAMPLING, MUCH_SAMPLING);
  if (severity === null) return [];
  return [
    {
      severity,
      sentence: `PE ${worst.pe_id} spent ${percent(share)} of its time taking samples: the recorded run differs from one without instrumentation.`,
      evidence: { sql: SAMPLES, rows: asRows(rows) },
      ...expecting(
        'Sample less often (--num-gvt, a longer --rt-interval), or sample less (no --lp-data, no --kp-data).',
        share,
        'samples took the rest',
      ),
    },
  ];
}

interface StreamRow {
  readonly pe_id: number;
  readonly stream: string;
  readonly waited_s: number;
  readonly seconds: number;
  readonly dropped_records: number;
}

export const INSTRUMENTATION: FindingRule = {
  name: 'instrumentation',
  title: 'instrumentation that slows the run or loses records',
  looks:
    'Measures the time that each PE spent taking samples and, for each stream of records, how long the PE waited for a free buffer and how many records were dropped.',
  needs: ['sim_stream'],
  thresholds: { SOME, MUCH, SAMPLING, MUCH_SAMPLING, LOST },
  knob: 'Record less (a longer --rt-interval or --num-gvt, no --lp-data, --trace-clock=batch), use larger buffers (--buffer-size) or write to a faster disk; with --on-overflow=drop, no PE waits but records are lost.',
  explains: [
    ...['gvt-interval', 'network-bound', 'too-many-kps', 'optimism', 'false-rollbacks'],
    ...ROLLBACK_SIGNS,
  ],
  async run(subject) {
    const { recording } = subject;
    const rows = await recording.query<StreamRow>(SQL);
    const evidence = { sql: SQL, rows: asRows(rows) };
    const found = await sampling(subject);
    const waits = new Map<number, number>();
    for (const { pe_id, waited_s, seconds } of rows) {
      waits.set(pe_id, (waits.get(pe_id) ?? 0) + waited_s / Math.max(seconds, 1e-9));
    }
    const [worst] = [...waits].sort((a, b) => b[1] - a[1]);
    const severity = worst === undefined ? null : graded(worst[1], SOME, MUCH);
    if (worst !== undefined && severity !== null) {
      const streams = rows.filter(({ pe_id, waited_s }) => pe_id === worst[0] && waited_s > 0);
      found.push({
        severity,
        sentence: `PE ${worst[0]} waited for the recorder for ${percent(worst[1])} of the time (${streams.map(({ stream }) => stream).join(', ')}): the recorded run differs from one without instrumentation.`,
        evidence,
        ...expecting(this.knob, worst[1], `PE ${worst[0]} waited for the rest`),
      });
    }
    const lost = rows.reduce((sum, row) => sum + row.dropped_records, 0);
    if (lost >= LOST.value) {
      const streams = [
        ...new Set(rows.filter((row) => row.dropped_records > 0).map((row) => row.stream)),
      ];
      found.push({
        severity: 'notice',
        sentence: `${whole(lost)} records were dropped (${streams.join(', ')}): sums over samples are too low.`,
        evidence,
        advice: 'Use larger buffers (--buffer-size), record less, or use --on-overflow=wait.',
      });
    }
    return found;
  },
};
