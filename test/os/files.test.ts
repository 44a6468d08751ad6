/** Files and folders that are made: whole, and never in place of a device. */
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/os/folder.ts';
import { isReplaceable, writeWhole } from '../../src/os/whole-file.ts';

const freshFolder = () => mkdtempSync(join(tmpdir(), 'triscope-files-'));

describe('a file written whole', () => {
  it('takes the place of the old one, and leaves nothing beside it', () => {
    const folder = freshFolder();
    const path = join(folder, 'a');
    writeWhole(path, 'one');
    writeWhole(path, 'two', true);
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(folder)).toEqual(['a']);
    expect(() => writeWhole(join(folder, 'none', 'a'), 'x')).toThrow('ENOENT');
  });

  it('never takes the place of a device: it is written to', () => {
    const folder = freshFolder();
    // By a link: were it renamed over, the machine's own device would still be there.
    const path = join(folder, 'device');
    symlinkSync('/dev/null', path);
    expect(isReplaceable(path)).toBe(false);
    writeWhole(path, 'text');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder)).toEqual(['device']);
  });
});

describe('a folder made', () => {
  it('comes with those above it, and may be there already', () => {
    const path = join(freshFolder(), 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    expect(lstatSync(path).isDirectory()).toBe(true);
  });

  it('is an error at once where nothing can be made, and where a file is in the way', () => {
    expect(() => makeFolder('/proc/none/x')).toThrow('ENOENT');
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow('is not a folder');
    expect(() => makeFolder(join(file, 'x'))).toThrow('ENOTDIR');
  });
});
