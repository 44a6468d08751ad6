/** Threads that stand still for a device, and who writes and reads most. */
import { bytes } from '../model/measures/index.ts';
import { expecting, type FindingRule, graded, OWN, percent, type Subject } from './finding.ts';
import {
  capital,
  ENOUGH,
  namesOf,
  stretchOfThread,
  THREADS,
  type ThreadRun,
  threadRows,
  threadsOf,
} from './threads.ts';
import { when } from './when.ts';

const WAITS = {
  value: 0.1,
  unit: 'share',
  means: 'of a thread’s samples found it blocked (state D): notice',
  source: `${OWN}: ten samples a second; most waits for a device are shorter than one`,
};
const MUCH = { value: 0.3, unit: 'share', means: 'of its samples: problem', source: OWN };
const SAMPLES = {
  value: 20,
  unit: '{sample}',
  means: 'of a thread: fewer prove nothing',
  source: `${OWN}: of 20 samples, 2 are a tenth`,
};

const share = ({ samples, blocked }: ThreadRun): number => blocked / Math.max(1, samples);

/** The share of its samples that found a thread blocked, of the thread with the largest; 0 if there are no threads with enough samples. */
export const mostBlocked = async (subject: Subject): Promise<number> =>
  Math.max(
    0,
    ...(await threadsOf(subject)).filter(({ samples }) => samples >= SAMPLES.value).map(share),
  );

const WRITERS = `SELECT process_id, sum(device_written * (t - t0)) AS written, sum(device_read * (t - t0)) AS read
FROM process_io_rate GROUP BY process_id ORDER BY sum((device_written + device_read) * (t - t0)) DESC LIMIT 1`;

export const DEVICE_WAIT: FindingRule = {
  name: 'device-wait',
  title: 'threads that wait for a device',
  looks:
    'Counts the samples in which a thread was blocked by a device (state D), and names the process that wrote and read the most.',
  needs: ['rank_on_node'],
  thresholds: { WAITS, MUCH, SAMPLES, ENOUGH },
  knob: 'Write less often and in larger pieces, write to a local or a parallel file system, or write from a separate thread.',
  async run(subject) {
    const all = (await threadsOf(subject)).filter(({ samples }) => samples >= SAMPLES.value);
    const blocked = all
      .filter((one) => share(one) >= WAITS.value)
      .sort((a, b) => share(b) - share(a));
    const severity = blocked.length === 0 ? null : graded(share(blocked[0]), WAITS, MUCH);
    if (severity === null) return [];
    const stretch = await stretchOfThread(subject, blocked[0], 'device');
    const [most] = subject.has('process_io_rate')
      ? await subject.recording.query<{ process_id: number; written: number; read: number }>(
          WRITERS,
        )
      : [];
    const who =
      most === undefined || most.written + most.read <= 0
        ? ''
        : `; process ${most.process_id} moved the most data: ${bytes(most.written)} to devices, ${bytes(most.read)} from them`;
    return [
      {
        severity,
        sentence: `${capital(namesOf(blocked))} was blocked by a device in ${percent(share(blocked[0]))} of its samples${when(stretch)}${who}.`,
        evidence: { sql: THREADS, rows: threadRows(blocked, stretch) },
        ...expecting(this.knob, share(blocked[0]), 'so long it stood still'),
      },
    ];
  },
};
