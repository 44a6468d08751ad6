/** Calls the command as a user does, and says what came of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs, { mkdtempSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWords } from '../../../src/cli/main.ts';

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

/** Keeps what is written to stdout and stderr, by streams and by `writeSync`, until `end`. */
function catchOutput() {
  const { writeSync } = fs;
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write);
  const texts = ['', ''];
  const keep = (n: number, chunk: string | Uint8Array) => {
    texts[n] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
  };
  for (const [n, stream] of streams.entries()) {
    stream.write = (chunk: string | Uint8Array) => {
      keep(n, chunk);
      return true;
    };
  }
  fs.writeSync = ((fd: number, bytes: Uint8Array, ...more: [at?: number, length?: number]) => {
    if (fd !== 1) return writeSync(fd, bytes, ...more);
    const [at = 0, length = bytes.length - at] = more;
    keep(0, bytes.subarray(at, at + length));
    return length;
  }) as typeof writeSync;
  syncBuiltinESMExports();
  return {
    texts,
    end: () => {
      for (const [n, stream] of streams.entries()) stream.write = writes[n];
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
    },
  };
}

/**
 * Runs `triscope …args` in this process, one at a time: Node takes longer to start than most commands take.
 * For what a command prints and writes and its exit code, not for signals, environments and full pipes.
 */
export async function triscopeHere(
  args: readonly string[],
  { cwd }: Pick<Call, 'cwd'> = {},
): Promise<Omit<Outcome, 'milliseconds'>> {
  const output = catchOutput();
  const before = process.cwd();
  try {
    if (cwd !== undefined) process.chdir(cwd);
    const code = await runWords(args);
    const [out, err] = output.texts;
    return { code, out, err };
  } finally {
    if (cwd !== undefined) process.chdir(before);
    output.end();
  }
}

/** A folder of this test's own. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'triscope-test-'));
}

/** Path of a file beside the tests. */
export function fixture(path: string): string {
  return fileURLToPath(new URL(`../models/${path}`, import.meta.url));
}
