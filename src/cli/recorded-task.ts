/** Tasks of one job that are recorded together: `srun triscope record -- ./app`, `mpirun triscope record -- ./app`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRecording } from '../formats/joined-recording.ts';
import { RecordError, recordingFolder } from '../formats/recording-folder.ts';
import { type LaunchedRank, launchedRank } from '../os/mpi/launcher.ts';

/** Tasks of each node, in Slurm's words: `2(x3),1` is 2, 2, 2, 1. */
function tasksOf(list: string, node: number): number | null {
  let left = node;
  for (const part of list.split(',')) {
    const [, tasks, times = '1'] = /^(\d+)(?:\(x(\d+)\))?$/.exec(part) ?? [];
    if (tasks === undefined) return null;
    if (left < Number(times)) return Number(tasks);
    left -= Number(times);
  }
  return null;
}

/** What srun's environment says of a task; null outside of a step. Source: srun(1), output environment variables. */
function slurmTask(env: NodeJS.ProcessEnv): LaunchedRank | null {
  const step = env.SLURM_STEP_ID ?? env.SLURM_STEPID;
  const job = env.SLURM_JOB_ID ?? env.SLURM_JOBID;
  const numbers = [
    env.SLURM_PROCID,
    env.SLURM_STEP_NUM_TASKS ?? env.SLURM_NTASKS,
    env.SLURM_LOCALID,
  ];
  // In a batch script there is a task, and no step.
  if (step === undefined || job === undefined) return null;
  if (!numbers.every((text) => /^\d{1,9}$/.test(text ?? ''))) return null;
  if (![step, job].every((text) => /^[\w.-]{1,64}$/.test(text))) return null;
  const [rank, size, localRank] = numbers.map(Number);
  const list = env.SLURM_STEP_TASKS_PER_NODE ?? env.SLURM_TASKS_PER_NODE ?? '';
  const local = tasksOf(list, Number(env.SLURM_NODEID ?? 0)) ?? 1;
  return { rank, size, localRank, local, job: `${job}.${step}` };
}

/** The task that this process is of several; null where it is alone. */
export function recordedTask(env: NodeJS.ProcessEnv = process.env): LaunchedRank | null {
  const task = slurmTask(env) ?? launchedRank(env);
  return task !== null && task.size > 1 ? task : null;
}

/**
 * Where a host of a job writes: a folder below the job's, which all hosts see.
 * @throws RecordError where what is there is of another job
 */
export function hostFolder(name: string, host: string, { job }: LaunchedRank): string {
  const folder = recordingFolder(name);
  if (existsSync(folder)) {
    const others = readdirSync(folder);
    let part: string | undefined;
    try {
      part = readRecording(folder)?.recording.part;
    } catch {
      // Another host writes its own at this moment.
      part = job;
    }
    if (others.length > 0 && part !== undefined && part !== job) {
      throw new RecordError(`-o: ${folder} belongs to job ${part}; remove it or give another name`);
    }
    if (existsSync(join(folder, 'recording.json'))) {
      throw new RecordError(`-o: ${folder} exists already; remove it or give another name`);
    }
  }
  return join(folder, host);
}

/** Milliseconds for which the first task waits for the recordings of other hosts, and between looks. */
const OTHERS_WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** Waits, for a limited time, until all hosts of a job that have begun are done. */
export async function othersEnded(folder: string, { size, local }: LaunchedRank): Promise<void> {
  // The number of hosts is not known; there is more than one if some tasks run elsewhere.
  const hosts = size > local ? 2 : 1;
  for (const until = Date.now() + OTHERS_WAIT_MS; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
    try {
      const recording = readRecording(folder)?.recording;
      if (recording !== undefined && recording.state !== 'running') {
        if (recording.hosts.length >= hosts) return;
      }
    } catch {
      // Being written at this moment.
    }
  }
}
