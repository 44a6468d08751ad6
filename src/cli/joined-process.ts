/** The end of a process that was not started here. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../os/alive.ts';
import { textOf } from '../os/proc-file.ts';

/** Milliseconds between looks. */
const LOOK = 100;

/** When it has ended, or one of the signals asks for an end. */
export async function joinedEnd(pid: number, ending: readonly NodeJS.Signals[]): Promise<void> {
  const asked = new AbortController();
  const ask = () => asked.abort();
  for (const name of ending) process.on(name, ask);
  // One whose parent has not asked how it ended is still there: state Z of proc_pid_stat(5).
  const runs = () => isAlive(pid) && !/\) Z /.test(textOf(`/proc/${pid}/stat`) ?? '');
  while (runs() && !asked.signal.aborted) {
    await sleep(LOOK, null, { signal: asked.signal }).catch(() => {});
  }
  for (const name of ending) process.off(name, ask);
}
