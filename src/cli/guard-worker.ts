/**
 * The thread of a guard (guard.ts). It imports next to nothing: it starts beside a command's first moments.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SignalLook } from '../os/signals.ts';
import {
  ECHO_MS,
  endOverdue,
  type GuardMessage,
  type GuardTask,
  type LastFile,
  LEAVE_MS,
  leaveFile,
  WRITING,
} from './guard.ts';

/** Milliseconds between looks. */
const PERIOD_MS = 100;
/** Milliseconds that the main thread has to end after a second signal. */
const AFTER_SECOND_MS = 500;

const { word, grace, caught, code } = workerData as GuardTask;

let last: LastFile | null = null;
let first = Number.POSITIVE_INFINITY;
let second = Number.POSITIVE_INFINITY;

function look(signals: SignalLook): void {
  const now = performance.now();
  if (signals.take()) {
    if (first > now) first = now;
    else if (now - first > ECHO_MS) second = Math.min(second, now);
  }
  const isWriting = Atomics.load(word, 0) === WRITING;
  if (!isWriting && now - first >= LEAVE_MS) {
    leaveFile(last);
    last = null;
  }
  if ((!isWriting && now - first >= grace) || now - second >= AFTER_SECOND_MS)
    endOverdue(grace, code);
}

const signals = new SignalLook(caught);
const timer = setInterval(look, PERIOD_MS, signals);
parentPort?.on('message', (message: GuardMessage) => {
  if (message !== null) {
    last = message;
    return;
  }
  clearInterval(timer);
  signals.close();
  parentPort?.close();
});
