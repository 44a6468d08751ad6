/** Runs Triscope's commands under injected faults, and to a sudden end. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** `npm run fuzz` and the tests run in the checkout. */
export const ROOT = process.cwd();
const BIN = join(ROOT, 'bin', 'triscope');

/** ENOSPC: that call and all later ones fail; EIO: that one; SHORT: it writes half of what it was given. */
export type FaultKind = 'ENOSPC' | 'EIO' | 'SHORT';

export interface Fault {
  readonly kind: FaultKind;
  /** Number of the call, from 1; 0: none fails, and calls are counted. */
  readonly at: number;
  /** Only calls on files below this folder. */
  readonly below: string;
  /** Not calls on files, but allocations of at least so many bytes. */
  readonly alloc?: number;
}

export interface Ran {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Calls that could fail, and those that did. */
  readonly calls: number;
  readonly failed: number;
  readonly ms: number;
}

let library: string | null = null;

/** The library that makes writes fail, compiled once. */
function faultLibrary(): string {
  if (library !== null) return library;
  const folder = mkdtempSync(join(tmpdir(), 'triscope-faults-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  library = join(folder, 'faults.so');
  const source = join(ROOT, 'test', 'faults', 'faults.c');
  execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return library;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly fault?: Fault;
  /** Ends it, and all that it started, after so many ms: with SIGKILL, where `end` says nothing else. */
  readonly killAfter?: number;
  readonly end?: 'SIGKILL' | 'SIGTERM';
  /** Hears of the process when it runs. */
  readonly started?: (child: ChildProcess) => void;
}

/** Ms that are enough for whatever is run here, on a busy machine too. */
const PATIENCE = 600_000;

function environment({ env, fault }: RunOptions, state: string): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...own } = process.env;
  if (fault === undefined) return { ...own, ...env };
  return {
    ...own,
    ...env,
    LD_PRELOAD: faultLibrary(),
    FAULT_BELOW: resolve(fault.below),
    FAULT_STATE: state,
    FAULT_AT: String(fault.at),
    FAULT_HOW: fault.kind,
    ...(fault.alloc !== undefined && { FAULT_ALLOC: String(fault.alloc) }),
  };
}

/** Runs `triscope ARGS…`; resolves when it, and all that writes to its output, has ended. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-run-'));
  const state = join(folder, 'state');
  writeFileSync(state, new Uint8Array(16));
  const began = performance.now();
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: ROOT,
    env: environment(options, state),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be ended.
    detached: true,
  });
  options.started?.(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), options.end ?? 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(end, options.killAfter ?? PATIENCE);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => {
      clearTimeout(timer);
      const counts = new BigUint64Array(Uint8Array.from(readFileSync(state)).buffer);
      rmSync(folder, { recursive: true, force: true });
      const ms = performance.now() - began;
      const [calls, failed] = [...counts].map(Number);
      done({ code, stdout, stderr, calls, failed, ms });
    });
  });
}
