/** The collector's log: whole groups, one schema per file, whoever writes and however it ends. */
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Backlog, LogError, type LogHead, NodeLog } from 'triscope/node';
import { afterAll, describe, expect, it } from 'vitest';
import { readFile, treeOf } from './support/raw.ts';

const here = mkdtempSync(join(tmpdir(), 'triscope-log-'));
afterAll(() => execFileSync('rm', ['-rf', here]));

const HEADER = '$tacc_stats 1.0.2\n$hostname c1\n$uname Linux\n$uptime 100\n';
const SCHEMA = '!cpu user,E,U=cs\n!vm pgpgin,E\n';

/** A header, as `Sampling` gives one. */
function head(text = HEADER + SCHEMA, started: number | null = null): LogHead {
  return { bytes: Buffer.from(text), started };
}
const group = (second: number, text = 'cpu 0 1') => ({
  second,
  bytes: Buffer.from(`\n${second} -\n${text}\n`),
});

let folders = 0;
const newFolder = () => join(here, `log${folders++}`);
const filesOf = (folder: string) => readdirSync(folder).filter((name) => /^\d+$/.test(name));
const append = (log: NodeLog, header: LogHead, second: number) =>
  log.locked(() => log.append(header, group(second)));

describe('the log', () => {
  it('is created with its first group; current is another name of the file', () => {
    const folder = join(newFolder(), 'deep');
    const log = new NodeLog(folder);
    append(log, head(), 1000);
    append(log, head(), 1010);
    log.close();
    expect(filesOf(folder)).toEqual(['1000']);
    const [file, current] = ['1000', 'current'].map((name) => statSync(join(folder, name)));
    expect(current.ino).toBe(file.ino);
    expect(file.nlink).toBe(2);
    expect(file.mode & 0o777).toBe(0o644);
    expect(readFileSync(join(folder, 'current'), 'utf8')).toBe(
      `${HEADER}${SCHEMA}\n1000 -\ncpu 0 1\n\n1010 -\ncpu 0 1\n`,
    );
  });

  it('begins another file after rotation, in the next free second', () => {
    const folder = newFolder();
    const log = new NodeLog(folder);
    append(log, head(), 1000);
    expect(log.locked(() => log.rotate())).toBe(true);
    expect(existsSync(join(folder, 'current'))).toBe(false);
    expect(log.locked(() => log.rotate())).toBe(false);
    append(log, head(), 1000);
    log.close();
    expect(filesOf(folder)).toEqual(['1000', '1001']);
  });

  it.each([
    ['its schema changes', head(`${HEADER}!cpu user,E,U=cs nice,E,U=cs\n!vm pgpgin,E\n`), 2],
    ['a type comes', head(`${HEADER}${SCHEMA}!mem MemFree,U=KB\n`), 2],
    ['a type is missing', head(`${HEADER}!vm pgpgin,E\n`), 1],
    ['the host is another', head(HEADER.replace('c1', 'c2') + SCHEMA), 2],
    ['the era is another', head(HEADER.replace('1.0.2', '2.3.5') + SCHEMA), 2],
    ['the machine runs on', head(HEADER + SCHEMA, 900), 1],
    ['the machine was started again', head(HEADER + SCHEMA, 2000), 2],
  ])('where %s, has the right number of files', (_, other, files) => {
    const folder = newFolder();
    const first = new NodeLog(folder);
    append(first, head(HEADER + SCHEMA, 900), 1000);
    first.close();
    const second = new NodeLog(folder);
    append(second, other, 3000);
    second.close();
    expect(filesOf(folder)).toHaveLength(files);
  });

  it('begins another file where totals are of another run, which may begin at 0', () => {
    const folder = newFolder();
    const log = new NodeLog(folder);
    const run = (id: string) => head(`${HEADER}$totals ${id}\n${SCHEMA}`);
    append(log, run('7-1'), 1000);
    append(log, run('7-1'), 1010);
    // A single sample, which has none.
    append(log, head(), 1020);
    append(log, run('8-2'), 1030);
    log.close();
    expect(filesOf(folder)).toEqual(['1000', '1030']);
  });

  it('notices that another process has rotated', () => {
    const folder = newFolder();
    const [kept, other] = [new NodeLog(folder), new NodeLog(folder)];
    const header = head();
    append(kept, header, 1000);
    other.locked(() => other.rotate());
    append(kept, header, 1010);
    expect(filesOf(folder)).toEqual(['1000', '1010']);
    append(other, head(), 1020);
    append(kept, header, 1030);
    expect(readFile(join(folder, '1010')).groups.map(({ time }) => time)).toEqual([
      '1010',
      '1020',
      '1030',
    ]);
    kept.close();
    other.close();
  });

  it('cuts off what a killed process has left of a group', () => {
    const folder = newFolder();
    const log = new NodeLog(folder);
    append(log, head(), 1000);
    const current = join(folder, 'current');
    const { ino, size } = statSync(current);
    // As it is after a kill in the middle of write(2).
    writeFileSync(join(folder, 'lock'), `${ino} ${size} ${size + 30}`.padEnd(63).concat('\n'));
    appendFileSync(current, '\n1010 -\ncpu 0 12');
    append(log, head(), 1020);
    log.close();
    const { groups, problems } = readFile(current);
    expect(problems).toEqual([]);
    expect(groups.map(({ time }) => time)).toEqual(['1000', '1020']);
  });

  it('says in one line why it cannot be written', () => {
    const file = join(here, 'a-file');
    writeFileSync(file, '');
    const log = new NodeLog(join(file, 'log'));
    expect(() => append(log, head(), 1000)).toThrow(LogError);
    expect(() => append(log, head(), 1000)).toThrow(/a-file\/log.*not a folder/);
  });

  it('keeps groups that cannot be written, and gives up the oldest', () => {
    const folder = newFolder();
    const log = new NodeLog(folder);
    const backlog = new Backlog(2);
    for (const second of [1000, 1010, 1020]) backlog.keep(head(), group(second));
    expect(backlog.length).toBe(2);
    expect(backlog.dropped).toBe(1);
    log.locked(() => backlog.append(log, head(), group(1030)));
    log.close();
    expect(backlog.length).toBe(0);
    expect(readFile(join(folder, '1010')).groups.map(({ time }) => time)).toEqual([
      '1010',
      '1020',
      '1030',
    ]);
  });
});

const support = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url));

/** What a process that was killed at it has left of a lock is taken over after 10 s: of them, 2 s are waited for here. */
function age(lock: string): void {
  for (const path of [lock, `${lock}.turn`]) {
    const left = statSync(path, { throwIfNoEntry: false });
    if (left?.size !== 0 || Date.now() - left.mtimeMs < 2000) continue;
    try {
      utimesSync(path, 0, 0);
    } catch {
      // Taken over meanwhile.
    }
  }
}

describe.skipIf(process.platform !== 'linux')('four collectors, killed again and again', () => {
  it.each([
    ['flock', []],
    ['a file, where there is no FFI', ['-r', support('no-ffi.cjs')]],
  ])('never tear, lose or mix a group: locked by %s', async (_, preload) => {
    const folder = newFolder();
    // 40 KB a group: a kill can come in the middle of one write.
    const tree = treeOf(join(folder, 'tree'), 1500);
    const entry = fileURLToPath(new URL('../../dist/node/index.js', import.meta.url));
    const told = new Map<string, number>();
    let names = 0;
    const start = () => {
      const name = `w${names++}`;
      const child = spawn(process.execPath, [
        ...preload,
        support('hammer.mjs'),
        entry,
        folder,
        tree,
        name,
      ]);
      child.stdout.on('data', (data) => {
        const last = String(data).trim().split('\n').at(-1);
        told.set(name, Number(last));
      });
      const ended = new Promise((resolve) => child.on('close', resolve));
      let said = '';
      child.stderr.on('data', (data) => {
        said += data;
      });
      const writing = new Promise((resolve, reject) => {
        child.stdout.once('data', resolve);
        child.once('close', () => reject(new Error(`${name} ended before it wrote: ${said}`)));
      });
      // Of those that are killed first, nobody asks.
      writing.catch(() => {});
      return { child, ended, writing };
    };
    const running = Array.from({ length: 4 }, start);
    const ageing = setInterval(() => age(join(folder, 'lock.held')), 100);
    let held = false;
    for (let kills = 0; kills < 12; kills++) {
      const slot = kills % running.length;
      await running[slot].writing;
      for (const until = Date.now() + 30 + ((kills * 37) % 60); Date.now() < until; ) {
        held ||= existsSync(join(folder, 'lock.held'));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      running[slot].child.kill('SIGKILL');
      await running[slot].ended;
      if (kills < 8) running[slot] = start();
    }
    clearInterval(ageing);
    // Whoever writes next mends what the last one left.
    const log = new NodeLog(folder);
    log.locked(() => log.rotate());
    log.close();
    expect(held).toBe(preload.length > 0);

    const seen = new Map<string, number[]>();
    for (const name of filesOf(folder)) {
      const { groups, problems } = readFile(join(folder, name));
      expect(problems).toEqual([]);
      for (const { marks, types } of groups) {
        expect(marks).toHaveLength(1);
        expect(types).toHaveLength(1500);
        const [who, number] = marks[0].split(' ');
        seen.set(who, [...(seen.get(who) ?? []), Number(number)]);
      }
    }
    for (const [name, last] of told) {
      const numbers = (seen.get(name) ?? []).sort((a, b) => a - b);
      // All that it said were written are there, once; the one after may be, too.
      expect(numbers.length - 1 - last).toBeLessThanOrEqual(1);
      expect(numbers).toEqual(numbers.map((_, k) => k));
      expect(numbers.length).toBeGreaterThan(last);
    }
    expect(told.size).toBe(12);
  });
});
