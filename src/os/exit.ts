/** Ending the process though a thread of it waits in the kernel. */
import { createRequire } from 'node:module';

/**
 * Ends it at once: no clean-up, no thread is waited for, as process.exit() does. Without FFI by a signal, which hides
 * the code. Source: _exit(2).
 */
export function exitNow(code: number): never {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    koffi.load(null).func('void _exit(int)')(code);
  } catch {
    // No FFI on this platform.
  }
  process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
