/** A small proc and sys of our own, that a test moves forward in time. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export type Files = Readonly<Record<string, string | number>>;

export class Tree {
  readonly root = mkdtempSync(join(tmpdir(), 'triscope-signals-'));

  constructor(files: Files = {}) {
    folders.push(this.root);
    this.put(files);
  }

  path(path: string): string {
    return join(this.root, path);
  }

  /** Writes files in place, as the kernel changes its own. */
  put(files: Files): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      writeFileSync(this.path(path), `${text}\n`);
    }
  }

  /** Another file of the same name. */
  replace(path: string, text: string | number): void {
    writeFileSync(this.path(`${path}.new`), `${text}\n`);
    renameSync(this.path(`${path}.new`), this.path(path));
  }

  remove(path: string): void {
    rmSync(this.path(path), { recursive: true });
  }

  text(path: string): string {
    return readFileSync(this.path(path), 'utf8').trim();
  }
}

/** Topology files: `places[n]` is package and core of CPU n, `nodes` the CPUs of each memory node. */
export function cpus(
  places: readonly (readonly [number, number])[],
  nodes: readonly string[] = [],
): Files {
  const files: Record<string, string | number> = {};
  for (const [cpu, [pack, core]] of places.entries()) {
    const folder = `sys/devices/system/cpu/cpu${cpu}/topology`;
    const same = places.flatMap(([p, c], n) => (p === pack && c === core ? [n] : []));
    files[`${folder}/physical_package_id`] = pack;
    files[`${folder}/core_id`] = core;
    files[`${folder}/thread_siblings_list`] = same.join();
  }
  for (const [node, list] of nodes.entries()) {
    files[`sys/devices/system/node/node${node}/cpulist`] = list;
  }
  return files;
}

/** Two packages of two cores of two threads: CPUs 0 and 4 are core 0 of package 0, 2 and 6 core 0 of package 1. */
export const TWO_BY_TWO = cpus(
  [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ],
  ['0-1,4-5', '2-3,6-7'],
);
