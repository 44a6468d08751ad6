/** Programs that mark regions, run to their end or killed; what their pages say. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PageNode, PageReader, type PageSnapshot } from 'triscope/region';
import { afterAll } from 'vitest';

const REGION = fileURLToPath(new URL('../../dist/region/index.js', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'triscope-region-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

/** A new folder. */
export function freshFolder(): string {
  return mkdtempSync(join(folder, 'run-'));
}

/** A module that marks: `text` with the marking API imported. */
export function program(text: string): string {
  const path = join(folder, `program-${made++}.mjs`);
  const imports = `import { region, epoch, tprofInit, tprofPost, shutdown } from ${JSON.stringify(REGION)};\n`;
  writeFileSync(path, imports + text);
  return path;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (data) => {
    stdout += data;
  });
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Runs a command with its pages kept in `pages`. */
export function start(
  command: readonly string[],
  pages: string,
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(command[0], command.slice(1), {
    env: { ...process.env, TRISCOPE_REGION_DIR: pages, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

export function readers(pages: string): PageReader[] {
  return readdirSync(pages)
    .filter((name) => name.endsWith('.page'))
    .sort()
    .map((name) => new PageReader(join(pages, name)));
}

export interface Marked extends Ended {
  /** Of the only page. */
  readonly page: PageReader;
  readonly seen: PageSnapshot;
}

/** Runs a program that makes one page. */
export async function marked(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Marked> {
  const pages = freshFolder();
  const end = await ended(start(command, pages, env));
  const all = readers(pages);
  if (all.length !== 1) throw new Error(`${all.length} pages; stderr: ${end.stderr}`);
  return { ...end, page: all[0], seen: all[0].snapshot() };
}

export const inNode = (text: string, env: Readonly<Record<string, string>> = {}) =>
  marked([process.execPath, program(text)], env);

/** Where a node is in the hierarchy: `outer/inner`. */
export function pathOf(seen: PageSnapshot, node: PageNode): string {
  const name = seen.regions[node.region].name;
  return node.parent < 0 ? name : `${pathOf(seen, seen.nodes[node.parent])}/${name}`;
}

/** Visits by place in the hierarchy, over all threads. */
export function counts(seen: PageSnapshot): Record<string, number> {
  const by: Record<string, number> = {};
  for (const node of seen.nodes) {
    const path = node.async ? `async ${pathOf(seen, node)}` : pathOf(seen, node);
    by[path] = (by[path] ?? 0) + node.count;
  }
  return by;
}
