/** Calls the command as a user does, and says what came of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** TRISCOPE_BIN: another build than the one in `dist`. */
export const BIN =
  process.env.TRISCOPE_BIN ?? fileURLToPath(new URL('../../../bin/triscope', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly milliseconds: number;
}

export interface Call {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Given on standard input. */
  readonly input?: string;
  /** Called with the process once it runs. */
  readonly meanwhile?: (child: ChildProcess) => void;
}

/** Runs `triscope …args`. */
export function triscope(args: readonly string[], call: Call = {}): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: call.cwd,
    env: { ...process.env, NO_COLOR: '', ...call.env },
    stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(call.input);
  let out = '';
  let err = '';
  child.stdout?.on('data', (data) => {
    out += data;
  });
  child.stderr?.on('data', (data) => {
    err += data;
  });
  call.meanwhile?.(child);
  return new Promise((resolve) => {
    child.on('close', (code) =>
      resolve({ code, out, err, milliseconds: performance.now() - started }),
    );
  });
}

/** A folder of this test's own. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'triscope-test-'));
}

/** Path of a file beside the tests. */
export function fixture(path: string): string {
  return fileURLToPath(new URL(`../models/${path}`, import.meta.url));
}
