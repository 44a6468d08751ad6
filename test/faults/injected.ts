/** One fault at a time, at each write of each target. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, type FaultKind, type Ran, run } from './run-command.ts';
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

async function runIn(target: Target, folder: string, fault?: Fault, killAfter?: number) {
  const env = target.env?.(folder) ?? {};
  return await run(target.args(folder), {
    env,
    ...(fault && { fault }),
    ...(killAfter !== undefined && { killAfter }),
  });
}

/** How many calls of a target can fail. @throws Error where it fails without a fault */
export async function countCalls(target: Target, above: string, alloc?: number): Promise<Ran> {
  const folder = await freshFolder(target, above);
  const fault: Fault = {
    kind: 'ENOSPC',
    at: 0,
    below: folder,
    ...(alloc !== undefined && { alloc }),
  };
  const ran = await runIn(target, folder, fault);
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
    const ran = await runIn(target, folder, { ...fault, below: folder });
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

/** Ends a target and all it started after so many ms; null where all holds. */
export async function killed(target: Target, above: string, ms: number): Promise<Failure | null> {
  const folder = await freshFolder(target, above);
  try {
    const ran = await runIn(target, folder, undefined, ms);
    await target.check(folder, ran);
    return null;
  } catch (error) {
    return {
      target: target.name,
      what: `SIGKILL after ${ms.toFixed(0)} ms`,
      message: (error as Error).message,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
