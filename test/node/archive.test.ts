/** Old files of a log become ARCHIVE/HOST/SECOND.gz, and are never lost on the way. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { archiveLog, LogError } from 'triscope/node';
import { afterAll, describe, expect, it } from 'vitest';
import { visitRaw } from '../formats/tacc/support/visit.ts';

const here = mkdtempSync(join(tmpdir(), 'triscope-archive-'));
afterAll(() => rmSync(here, { recursive: true }));

const textOf = (host: string, second: number) =>
  `$tacc_stats 1.0.2\n$hostname ${host}\n$uname Linux\n$uptime 5\n!cpu user,E\n\n${second} -\ncpu 0 1\n`;

let folders = 0;
/** A log with these files. */
function logOf(files: Readonly<Record<string, string>>): { folder: string; archive: string } {
  const at = join(here, `case${folders++}`);
  const folder = join(at, 'log');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return { folder, archive: join(at, 'archive') };
}

describe('the archive', () => {
  it('gets files that are old by their names, in a folder by host', async () => {
    const fresh = String(Math.floor(Date.now() / 1000) - 10);
    const { folder, archive } = logOf({
      1000: textOf('c1.example', 1000),
      2000: textOf('c1.example', 2000),
      [fresh]: textOf('c1.example', 3),
      'no-number': 'x',
    });
    const { moved, left } = await archiveLog(folder, archive, 86_400);
    expect(left).toEqual([]);
    expect(moved).toEqual([1000, 2000].map((k) => join(archive, 'c1.example', `${k}.gz`)));
    expect(readdirSync(folder).sort()).toEqual([fresh, 'no-number'].sort());
    expect(gunzipSync(readFileSync(moved[0])).toString()).toBe(textOf('c1.example', 1000));
    expect(statSync(moved[0]).mode & 0o777).toBe(0o644);
    expect(visitRaw(moved[1], {}).groups).toBe(1);
    expect(readdirSync(join(archive, 'c1.example'))).toHaveLength(2);
  });

  it('leaves the current file, whatever its age', async () => {
    const { folder, archive } = logOf({ 1000: textOf('c1', 1000) });
    linkSync(join(folder, '1000'), join(folder, 'current'));
    const { moved, left } = await archiveLog(folder, archive, 0);
    expect(moved).toEqual([]);
    expect(left.join()).toContain('rotate first');
    expect(existsSync(join(folder, '1000'))).toBe(true);
  });

  it('finishes what a crash left: the copy is there, the file too', async () => {
    const { folder, archive } = logOf({ 1000: textOf('c1', 1000) });
    mkdirSync(join(archive, 'c1'), { recursive: true });
    writeFileSync(join(archive, 'c1', '1000.gz'), gzipSync(textOf('c1', 1000)));
    const { moved } = await archiveLog(folder, archive, 0);
    expect(moved).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('never replaces a file with another content, nor trusts a cut one', async () => {
    const { folder, archive } = logOf({ 1000: textOf('c1', 1000), 2000: textOf('c1', 2000) });
    mkdirSync(join(archive, 'c1'), { recursive: true });
    const [other, cut] = ['1000.gz', '2000.gz'].map((name) => join(archive, 'c1', name));
    writeFileSync(other, gzipSync('something else'));
    writeFileSync(cut, gzipSync(textOf('c1', 2000)).subarray(0, 40));
    const { moved, left } = await archiveLog(folder, archive, 0);
    expect(moved).toEqual([]);
    expect(left).toHaveLength(2);
    expect(left[0]).toContain('exists with different content; both files are kept');
    expect(readdirSync(folder)).toEqual(['1000', '2000']);
    expect(gunzipSync(readFileSync(other)).toString()).toBe('something else');
  });

  it('takes no host name for a path', async () => {
    const { folder, archive } = logOf({ 1000: textOf('../../etc', 1000), 2000: 'junk\n' });
    const { left } = await archiveLog(folder, archive, 0);
    expect(left).toHaveLength(2);
    expect(left[0]).toContain('no $hostname that could name a folder');
    expect(existsSync(archive)).toBe(false);
  });

  it('says what it cannot list', async () => {
    await expect(archiveLog(join(here, 'none'), here, 0)).rejects.toThrow(LogError);
  });
});
