/** Waits for the end of a process that another program started. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../os/alive.ts';
import { textOf } from '../os/proc-file.ts';

/** Milliseconds between looks. */
const LOOK_MS = 100;

/** Resolves when it has ended, or when one of the signals arrives. */
export async function joinedEnd(pid: number, ending: readonly NodeJS.Signals[]): Promise<void> {
  const asked = new AbortController();
  const ask = () => asked.abort();
  for (const name of ending) process.on(name, ask);
  // One whose parent has not asked how it ended is still there: state Z of proc_pid_stat(5).
  const runs = () => isAlive(pid) && !/\) Z /.test(textOf(`/proc/${pid}/stat`) ?? '');
  while (runs() && !asked.signal.aborted) {
    await sleep(LOOK_MS, null, { signal: asked.signal }).catch(() => {});
  }
  for (const name of ending) process.off(name, ask);
}
