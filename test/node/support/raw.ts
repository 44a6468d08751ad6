/** Raw stats files as the reader sees them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RawParser } from 'triscope/formats/tacc';

export interface ReadGroup {
  readonly time: string;
  readonly jobs: string;
  readonly host: string | null;
  readonly marks: string[];
  readonly types: string[];
}

export interface ReadFile {
  readonly groups: ReadGroup[];
  readonly problems: string[];
  readonly schemas: string[];
}

/** All of one file. */
export function readFile(path: string): ReadFile {
  const groups: ReadGroup[] = [];
  const problems: string[] = [];
  const schemas: string[] = [];
  const last = () => groups[groups.length - 1];
  const parser = new RawParser({
    schema: ({ type }) => schemas.push(type),
    group: ({ time, jobIds, host }) =>
      groups.push({ time, jobs: jobIds.join(','), host, marks: [], types: [] }),
    mark: (mark) => last().marks.push(mark),
    record: ({ type }) => last().types.push(type),
    problem: ({ line, reason }) => problems.push(`${path}: ${line}: ${reason}`),
  });
  parser.push(readFileSync(path));
  parser.end();
  return { groups, problems, schemas };
}

/** A recorded tree of `cpus` CPUs in `folder`: groups of any size. */
export function treeOf(folder: string, cpus: number, host = 'c1'): string {
  mkdirSync(join(folder, 'proc', 'sys', 'kernel'), { recursive: true });
  const lines = Array.from({ length: cpus }, (_, k) => `cpu${k} ${k} 2 3 4 5 6 7 8 9 10\n`);
  writeFileSync(join(folder, 'proc', 'stat'), lines.join(''));
  writeFileSync(join(folder, 'proc', 'sys', 'kernel', 'hostname'), `${host}\n`);
  writeFileSync(join(folder, 'proc', 'uptime'), '100.00 50.00\n');
  return folder;
}
