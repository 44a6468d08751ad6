/** V8's settings. Each version of V8 knows its own and prints a line to stderr about others, so unknown ones are not set. */
import { setFlagsFromString } from 'node:v8';

/**
 * The default values: of every V8, or of the versions that were tried: Node 20's (11.3), 22's (12.4), 24's (13.6),
 * 26's (14.6).
 */
export const USUAL = {
  'max-inlined-bytecode-size': 460,
  'max-inlined-bytecode-size-cumulative': 920,
  /** Bytes of bytecode that a function executes before it is optimised. */
  'interrupt-budget': { '11.3': 67_584 },
  /** Calls of a function before it is optimised. `--v8-options` says 3,000, but another default implies more. */
  'invocation-count-for-turbofan': { '12.4': 3000, '13.6': 10_000, '14.6': 16_000 },
} as const satisfies Readonly<Record<string, number | Readonly<Record<string, number>>>>;

type V8Flag = keyof typeof USUAL;

/** What this thread has set. */
const changed = new Map<V8Flag, number>();

/** Event of a process or thread that is about to keep what V8 has compiled (bin/compiled.js). */
const KEEPS = 'triscope:keeps';
/** The flag that must not fall while V8 optimises a function: it would end the process (`Check failed: inlineability == …`). */
const CRITICAL = 'max-inlined-bytecode-size';
/** Milliseconds after which what is being optimised has been. */
const OPTIMISED_MS = 300;

/** The default value in a version of V8, such as `process.versions.v8`; undefined if it may not know the setting. */
export function usualValue(v8: string, flag: V8Flag): number | undefined {
  const usual: number | Readonly<Record<string, number>> = USUAL[flag];
  return typeof usual === 'number' ? usual : usual[v8.split('.').slice(0, 2).join('.')];
}

/**
 * Sets it for the whole process, from the next function on that is compiled or optimised; does nothing if this V8 lacks it. The
 * default comes back where this thread keeps what V8 has compiled, because that is for processes that begin with it.
 */
export function setV8Flag(flag: V8Flag, value: number): void {
  if (usualValue(process.versions.v8, flag) === undefined) return;
  if (changed.size === 0) (process as NodeJS.EventEmitter).once(KEEPS, restore);
  changed.set(flag, value);
  setFlagsFromString(`--${flag}=${value}`);
}

function restore(): void {
  if ((changed.get(CRITICAL) ?? 0) > USUAL[CRITICAL])
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPTIMISED_MS);
  for (const flag of changed.keys()) {
    setFlagsFromString(`--${flag}=${usualValue(process.versions.v8, flag)}`);
  }
}
