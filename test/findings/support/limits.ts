/** Recordings of commands that are limited by memory, a link, heat or servers of Lustre, for ten seconds. */
import type { Batch } from '../../../src/model/metric.ts';
import {
  PROCESS,
  PROCESS_HEAT,
  PROCESS_IO,
  PROCESS_LIMIT,
  PROCESS_LINK,
  PROCESS_MEMORY,
} from '../../../src/model/schemas/process.ts';
import {
  batchOf,
  framesOf,
  NOON,
  recordingOf,
  type Values,
  writeFolder,
} from '../../query/support/recording.ts';
import { newPath } from './findings.ts';

const HOST = 'h1';
const SECONDS = Array.from({ length: 11 }, (_, second) => second);

const recording = (...batches: readonly Batch[]) =>
  writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(...batches),
  });

const each = (row: (second: number) => Values) =>
  SECONDS.map((second) => ({ real_time: second, host: HOST, ...row(second) }));

/** So many of 1000 bytes in use from the fifth second on, half before; and killed processes. */
export const limited = (used: number, killed = 0): string =>
  recording(
    batchOf(
      PROCESS_LIMIT,
      each((second) => ({
        ...{ cgroup: '/job', limit: 1000n, used: BigInt(second < 5 ? 500 : used) },
        killed: BigInt(second < 8 ? 0 : killed),
      })),
    ),
    batchOf(PROCESS, [{ real_time: 0, host: HOST, process_id: 7, name: 'app' }]),
    batchOf(
      PROCESS_MEMORY,
      each(() => ({ process_id: 7, resident: 300n, threads: 1 })),
    ),
  );

/** Package 1 slows down for so many ms of each of the last five seconds. */
export const hot = (milliseconds: number): string =>
  recording(
    batchOf(
      PROCESS_HEAT,
      [0, 1].flatMap((number) =>
        each((second) => {
          const slow = BigInt(number * Math.max(0, second - 5));
          return {
            ...{ package: number, throttles: slow },
            throttled_time: slow * BigInt(milliseconds),
          };
        }),
      ),
    ),
  );

/** A link of 1000 B/s that carries `rate` in the last `full` seconds, of which the command moves `own`. */
export const loaded = (rate: number, full: number, own = 0, link = 'eth0'): string =>
  recording(
    batchOf(
      PROCESS_LINK,
      each((second) => ({
        ...{ link, speed: 1000, sent: 0n },
        received: BigInt(rate * Math.max(0, second - 10 + full)),
      })),
    ),
    batchOf(
      PROCESS_IO,
      each((second) => ({ process_id: 7, read: BigInt(own * second), written: 0n })),
    ),
  );

/** Requests that took so many ms each, 20 a second; and bytes that were read with them. */
export function lustre(milliseconds: number, bytes: number): string {
  const groups = SECONDS.map(
    (second) =>
      `\n${NOON + second} 7 ${HOST}\nosc work ${second * bytes} ${20 * second} ${20 * second * milliseconds * 1000}`,
  );
  return writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'node/h1/1': `$tacc_stats 2.3.5\n$hostname ${HOST}\n!osc read_bytes,E,U=B reqs,E wait,E,U=us\n${groups.join('\n')}\n`,
  });
}

/** By rule: the recording beyond, and the one short. */
export const LIMIT_PAIRS: readonly (readonly [string, () => string, () => string])[] = [
  ['memory-limit', () => limited(910), () => limited(890)],
  ['heat', () => hot(21), () => hot(19)],
  ['full-link', () => loaded(810, 2), () => loaded(790, 2)],
  ['slow-lustre', () => lustre(51, 1e6), () => lustre(49, 1e6)],
];
