/** What killed processes left of their work. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeLeftovers } from '../../src/query/leftovers.ts';

/** Of a process that has ended. */
const dead = spawnSync('true').pid;
const HOUR = 3600;

it('goes once its process is dead and it was untouched for a day; what lives, is young or is something else stays', () => {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-left-'));
  const make = (name: string, hours: number, fileHours = hours) => {
    const path = join(folder, name);
    mkdirSync(path);
    writeFileSync(join(path, 'file'), '1');
    const ago = (h: number) => Date.now() / 1000 - h * HOUR;
    utimesSync(join(path, 'file'), ago(fileHours), ago(fileHours));
    utimesSync(path, ago(hours), ago(hours));
  };
  make(`.out.part-${dead}-aaaaaa`, 25);
  make(`.out.part-${dead}-bbbbbb`, 23);
  make(`.out.part-${dead}-cccccc`, 25, 1);
  make(`.out.part-${process.pid}-dddddd`, 25);
  make('.out.part-eeeeee', 25);
  make(`out.part-${dead}`, 25);
  removeLeftovers(folder, /^\..*\.part-(\d+)-\w{6}$/);
  expect(readdirSync(folder).sort()).toEqual(
    [
      `.out.part-${dead}-bbbbbb`,
      `.out.part-${dead}-cccccc`,
      `.out.part-${process.pid}-dddddd`,
      '.out.part-eeeeee',
      `out.part-${dead}`,
    ].sort(),
  );
  removeLeftovers(join(folder, 'not there'), /(\d+)/);
  rmSync(folder, { recursive: true });
});
