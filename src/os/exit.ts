/** Ending the process though a thread of it waits in the kernel. */
import { createRequire } from 'node:module';

const acts = new Set<() => void>();

function actAll(): void {
  for (const act of acts) {
    try {
      act();
    } catch {
      // Nothing keeps the process from its end.
    }
  }
}

/**
 * What this thread still does if it ends the process before its work is done, such as removing a folder. Short, and not
 * asynchronous. Returns what takes it back.
 */
export function atEnd(act: () => void): () => void {
  if (acts.size === 0) process.on('exit', actAll);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size === 0) process.off('exit', actAll);
  };
}

/**
 * Ends it at once: no thread is waited for, as process.exit() does, and nothing is cleaned up but by `atEnd`. Without FFI by
 * a signal, which hides the code. Source: _exit(2).
 */
export function exitNow(code: number): never {
  actAll();
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    koffi.load(null).func('void _exit(int)')(code);
  } catch {
    // No FFI on this platform.
  }
  process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
