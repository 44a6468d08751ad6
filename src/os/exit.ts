/** Ends the process even if one of its threads is blocked in the kernel. */
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
 * Registers a short synchronous action, such as removing a folder, that this thread performs if it ends the process before its work is done.
 * Returns a function that unregisters it.
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
 * Ends the process at once: no thread is waited for, unlike process.exit(), and only the actions of `atEnd` are performed. Without FFI it
 * uses a signal, which hides the exit code. Source: _exit(2).
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
