/** One fault at a time, at each write of each target. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, type FaultKind, type Ran, type RunOptions, run } from './run-command.ts';
import type { Target } from './targets.ts';

export interface Failure {
  readonly target: string;
  /** What was done to it. */
  readonly what: string;
  readonly message: string;
}

export const KINDS: readonly FaultKind[] = ['ENOSPC', 'EIO', 'SHORT'];

/** What is told on failure: a line or a few, each the program's own; no stack, nothing unexpected. */
export function checkEnding({ code, stderr, failed }: Ran): void {
  const lines = stderr.split('\n').filter((line) => line !== '');
  const odd = lines.find((line) => /^\s+at |unexpected|UnhandledPromise|node:internal/i.test(line));
  if (odd !== undefined) throw new Error(`told: ${odd}`);
  if (code === null) throw new Error(`a signal ended it: ${lines.at(-1) ?? ''}`);
  if (code !== 0 && failed === 0) throw new Error(`code ${code} without a fault: ${stderr}`);
  if (code !== 0 && code !== 1 && code !== 3)
    throw new Error(`code ${code}: ${lines.at(-1) ?? ''}`);
  if (code !== 0 && lines.length === 0) throw new Error(`code ${code} without a word`);
  if (lines.length > 4) throw new Error(`${lines.length} lines: ${lines.slice(0, 3).join(' / ')}`);
}

/** A new folder with what the target needs. */
export async function freshFolder(target: Target, above: string): Promise<string> {
  mkdirSync(above, { recursive: true });
  const folder = mkdtempSync(join(above, 'case-'));
  await target.prepare?.(folder);
  return folder;
}

const runIn = (target: Target, folder: string, { env, ...options }: RunOptions) =>
  run(target.args(folder), {
    env: { ...target.env?.(folder), ...env },
    ...(target.meanwhile && { started: (child) => void target.meanwhile?.(folder, child) }),
    ...options,
  });

/** By target and size of allocations: its run without a fault. */
const counted = new Map<string, Promise<Ran>>();

/** How many calls of a target can fail: counted once in a process. @throws Error where it fails without a fault */
export function countCalls(target: Target, above: string, alloc?: number): Promise<Ran> {
  const key = `${target.name} ${alloc}`;
  const ran = counted.get(key) ?? runAndCount(target, above, alloc);
  counted.set(key, ran);
  return ran;
}

async function runAndCount(target: Target, above: string, alloc?: number): Promise<Ran> {
  const folder = await freshFolder(target, above);
  const fault: Fault = {
    kind: 'ENOSPC',
    at: 0,
    below: folder,
    ...(alloc !== undefined && { alloc }),
  };
  const ran = await runIn(target, folder, { fault });
  if (ran.code !== 0) throw new Error(`${target.name}: code ${ran.code}: ${ran.stderr}`);
  await target.check(folder, ran);
  rmSync(folder, { recursive: true, force: true });
  return ran;
}

/** Fails one call; null where all holds. */
export async function inject(
  target: Target,
  above: string,
  fault: Omit<Fault, 'below'>,
): Promise<Failure | null> {
  const folder = await freshFolder(target, above);
  const what = `${fault.kind} at ${fault.alloc === undefined ? 'write' : `allocation of ${fault.alloc}`} ${fault.at}`;
  try {
    const ran = await runIn(target, folder, { fault: { ...fault, below: folder } });
    checkEnding(ran);
    if (fault.kind === 'SHORT' && ran.code !== 0)
      throw new Error(`code ${ran.code}: ${ran.stderr}`);
    await target.check(folder, ran);
    return null;
  } catch (error) {
    return { target: target.name, what, message: (error as Error).message };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ours = (folder: string) => readdirSync(folder).filter((name) => name.includes('triscope'));

/** What a killed run left among temporary files goes with the next start. @throws Error for what stays */
async function checkNothingStays(target: Target, above: string, env: { readonly TMPDIR: string }) {
  const inMemory = ours('/dev/shm');
  if (inMemory.length > 0) throw new Error(`/dev/shm has ${inMemory.join(', ')}`);
  if (ours(env.TMPDIR).length === 0) return;
  const folder = await freshFolder(target, above);
  const ends = target.endless !== undefined && ({ killAfter: 5000, end: 'SIGTERM' } as const);
  const { code, stderr } = await runIn(target, folder, { env, ...ends });
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`the next start: code ${code}: ${stderr}`);
  const left = ours(env.TMPDIR);
  if (left.length > 0) throw new Error(`the next start leaves ${left.join(', ')}`);
}

/** Ends a target and all it started after so many ms; null where all holds. */
export async function killed(target: Target, above: string, ms: number): Promise<Failure | null> {
  const folder = await freshFolder(target, above);
  const env = { TMPDIR: mkdtempSync(join(above, 'tmp-')) };
  try {
    const ran = await runIn(target, folder, { env, killAfter: ms });
    await target.check(folder, ran);
    await checkNothingStays(target, above, env);
    return null;
  } catch (error) {
    return {
      target: target.name,
      what: `SIGKILL after ${ms.toFixed(0)} ms`,
      message: (error as Error).message,
    };
  } finally {
    for (const path of [folder, env.TMPDIR]) rmSync(path, { recursive: true, force: true });
  }
}
