/** A simulation in a process of its own: every trial starts as cold as a user's run does. */
import { spawn } from 'node:child_process';
import { EXIT } from '../model/error.ts';
import { ModelError } from '../sim/model.ts';
import type { TrialRun } from '../sim/tune.ts';

export interface TrialCall {
  /** The words after `sim run`. */
  readonly args: readonly string[];
  /** Seconds after which it is given up. */
  readonly seconds: number;
  /** Whether the result after `seconds` is what it has done by then; it is given up if it does not end when interrupted. */
  readonly partly?: boolean;
  readonly signal: AbortSignal;
}

/** Keys of `sim run --json` that are used. */
interface Printed {
  readonly eventRate: number;
  readonly efficiency: number;
  readonly eventDigest: string;
  readonly wallSeconds: number;
  readonly end: number;
  readonly gvtComputations: number;
  readonly gvt: number;
  readonly finished: boolean;
}

/** Longest delay that a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Milliseconds that an interrupted run has to sum up. */
const TO_END_MS = 5000;

/** @throws ModelError with the run's own line */
export function trialRun({ args, seconds, signal, partly = false }: TrialCall): Promise<TrialRun> {
  const child = spawn(process.execPath, [process.argv[1], 'sim', 'run', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  let complaint = '';
  let late = false;
  child.stdout.on('data', (data: Buffer) => chunks.push(data));
  child.stderr.on('data', (data: Buffer) => {
    complaint = (complaint + data.toString()).slice(-2000);
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop);
  const within = (milliseconds: number, then: () => void) =>
    setTimeout(then, Math.min(LONGEST_TIMER_MS, milliseconds));
  const giveUp = () => {
    late = true;
    stop();
  };
  let timer = within(seconds * 1000, () => {
    if (!partly) return giveUp();
    child.kill('SIGINT');
    timer = within(TO_END_MS, giveUp);
  });
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    child.on('error', (error) => {
      done();
      reject(error);
    });
    child.on('close', (code) => {
      done();
      const json = Buffer.concat(chunks).toString();
      const ended = code === 0 || (partly && code === EXIT.interrupted);
      if (ended && json !== '') return resolve(resultOf(json));
      if (late) return reject(new ModelError(`took more than ${seconds.toFixed(1)} s: stopped`));
      const line = complaint.trim().split('\n').pop() ?? '';
      reject(new ModelError(line.replace(/^triscope: /, '') || `ended with code ${code}`));
    });
  });
}

function resultOf(json: string): TrialRun {
  const { eventRate, efficiency, eventDigest, wallSeconds, end, gvt, finished, gvtComputations } =
    JSON.parse(json) as Printed;
  const gvtStep = end / Math.max(1, gvtComputations);
  const reached = finished ? 1 : gvt / end;
  return { eventRate, efficiency, eventDigest, wallSeconds, gvtStep, reached };
}
