/** What `node end` and `region restore` change as root: what they themselves change on this machine, and nothing else. */
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hardwareOf, JobList, NodeLog, NodeTree, Programming } from 'triscope/node';
import { Platform } from 'triscope/signals';
import { beforeEach, describe, expect, it } from 'vitest';
import { openBelow, readTrusted } from '../../../dist/os/trusted-file.js';
import { readSavedControls } from '../../../dist/region/controller/index.js';
import { EIGHT, intel, ONE } from './machines.ts';
import { folder, machine } from './support.ts';

const isRoot = process.getuid?.() === 0;
const text = (path: string) => readFileSync(path, 'utf8');

let cases = 0;
let own: string;
/** A file that nobody may write to by a detour. */
let secret: string;
beforeEach(() => {
  own = join(folder, `restoring-${cases++}`);
  mkdirSync(own);
  secret = join(own, 'secret');
  writeFileSync(secret, 'untouched');
});

describe('registers', () => {
  /** A machine that is programmed, and the file of it. */
  function programmed() {
    const root = machine({
      processor: intel(0x2d),
      cpus: ONE,
      msr: { 0: `${EIGHT}\n38d 1\n38f 2\nc0000082 77` },
    });
    const path = join(own, 'registers');
    const said: string[] = [];
    const programming = new Programming(path, (line) => said.push(line));
    programming.begin(new NodeTree(root), ['intel_snb']);
    const tree = new NodeTree(root);
    const writes = () =>
      hardwareOf(tree).writes.map(({ space, at }) => `${space} ${at.toString(16)}`);
    return { path, said, end: () => programming.end(tree), writes };
  }
  const SELECTORS = ['186', '187', '188', '189', '18a', '18b', '18c', '18d'];

  it('of the file are restored where programming writes them, and no others', () => {
    const { path, said, end, writes } = programmed();
    const kept = JSON.parse(text(path));
    const all = kept.saved.map((each: { at: number }) => `msr 0 ${each.at.toString(16)}`);
    expect(all).toEqual(expect.arrayContaining(SELECTORS.map((at) => `msr 0 ${at}`)));
    kept.saved.push(
      // Where system calls lead.
      { space: 'msr 0', at: 0xc0000082, width: 8, value: '1' },
      { space: 'pci ../../../../secret', at: 0, width: 8, value: '1' },
      { space: 'mem ff/00.0', at: 0x186, width: 8, value: '1' },
    );
    writeFileSync(path, JSON.stringify(kept));
    end();
    expect(writes()).toEqual(all.toReversed());
    expect(said).toEqual([
      'not all registers were restored: register C0000082h of msr 0 is not a register that Triscope programs: it is left unchanged',
    ]);
    expect(text(secret)).toBe('untouched');
  });

  it.each([
    ['pci ../../../etc/hostname'],
    ['pci 00/00.0/../../../../etc/hostname'],
    ['msr ../../etc/hostname'],
    ['msr 0/../../../etc/hostname'],
    ['disk 0'],
  ])('called %s do not exist', (name) => {
    expect(() => hardwareOf(new NodeTree('/')).space(name)).toThrow(
      `there are no registers called ${name}`,
    );
  });

  it.each([
    ['a value that is none', { value: '1e3' }],
    ['a value that is too large', { value: '18446744073709551616' }],
    ['a width that is none', { width: 1 }],
    ['a place that is none', { at: 0.5 }],
  ])('with %s are all left', (_, wrong) => {
    const { path, said, end, writes } = programmed();
    const kept = JSON.parse(text(path));
    Object.assign(kept.saved[0], wrong);
    writeFileSync(path, JSON.stringify(kept));
    end();
    expect(writes()).toEqual([]);
    expect(said).toEqual([]);
  });

  it('of a file that others could write to are left, which is said', () => {
    const { path, said, end, writes } = programmed();
    chmodSync(path, 0o666);
    end();
    expect(said).toEqual([
      `${path}: other users can write to it (chmod go-w): no register is restored`,
    ]);
    expect(writes()).toEqual([]);
  });

  it('behind a link are left, which is said', () => {
    const { path, said, end, writes } = programmed();
    renameSync(path, join(own, 'elsewhere'));
    symlinkSync(join(own, 'elsewhere'), path);
    end();
    expect(said).toEqual([
      `${path}: is a symbolic link and may lead anywhere: no register is restored`,
    ]);
    expect(writes()).toEqual([]);
  });

  it.skipIf(!isRoot)('of another user’s file are left, which is said', () => {
    const { path, said, end, writes } = programmed();
    chownSync(path, 1234, 1234);
    end();
    expect(said[0]).toContain('belongs to user 1234, but this process runs as user 0');
    expect(writes()).toEqual([]);
  });
});

describe('files of a log whose folder is another user’s', () => {
  it('are not made through a link of their folder’s name', () => {
    const elsewhere = join(own, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(own, 'running'));
    const list = new JobList(join(own, 'running'));
    expect(() => list.add('4001', true)).toThrow(/running: is a symbolic link/);
    expect(list.read()).toEqual([]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it.each(['lock', 'current'])('are refused where %s is a link', (name) => {
    symlinkSync(secret, join(own, name));
    const log = new NodeLog(own);
    const head = { bytes: Buffer.from('$tacc_stats 1.0.2\n$hostname c1\n'), started: null };
    const group = { second: 1000, bytes: Buffer.from('\n1000 -\n') };
    expect(() => log.locked(() => log.append(head, group))).toThrow(
      `${join(own, name)}: is a symbolic link and may lead anywhere`,
    );
    log.close();
    expect(text(secret)).toBe('untouched');
  });
});

describe('settings', () => {
  const FREQUENCY = 'sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq';
  function platform() {
    const root = machine({
      cpus: ONE,
      files: {
        [FREQUENCY]: '3000000',
        'sys/devices/system/cpu/cpufreq/policy0/affected_cpus': '0',
        'sys/devices/system/cpu/cpufreq/policy0/scaling_governor': 'powersave',
      },
    });
    return { root, controls: Platform.open({ root, allowControl: true }).controls };
  }

  it('are put back where a control writes them, and no other file is', () => {
    const { root, controls } = platform();
    const saved = [
      { path: secret, text: '1' },
      { path: join(root, FREQUENCY), text: '2000000' },
      { path: join(root, 'sys/devices/system/cpu/cpufreq/policy0/scaling_governor'), text: '7' },
      { path: join(root, FREQUENCY, '../../../../../../../../secret'), text: '1' },
    ];
    expect(() => controls.restore(saved)).toThrow(
      /not a setting that Triscope changes on this machine/,
    );
    expect(text(join(root, FREQUENCY))).toBe('2000000');
    expect(text(secret)).toBe('untouched');
    expect(() => controls.restore([{ path: join(root, FREQUENCY), text: '1\nroot::0:0' }])).toThrow(
      /the saved value is not a number/,
    );
  });

  it.each([
    ['a link leads out', (path: string) => symlinkSync(secret, path), /leads out of/],
    ['a file has a second name', (path: string) => linkSync(secret, path), /has 2 hard links/],
    ['a folder is in the way', (path: string) => mkdirSync(path), /EISDIR|neither a file/],
  ])('are refused where %s', (_, put, message) => {
    const { root, controls } = platform();
    const path = join(root, FREQUENCY);
    renameSync(path, join(own, 'before'));
    put(path);
    expect(() => controls.restore([{ path, text: '5' }])).toThrow(message);
    expect(text(secret)).toBe('untouched');
  });

  it('are read from a file of one’s own alone', () => {
    const path = join(own, 'saved.json');
    const saved = { version: 1, pid: 1, host: 'x', settings: [] };
    writeFileSync(path, JSON.stringify(saved));
    expect(readSavedControls(path)).toEqual(saved);
    chmodSync(path, 0o646);
    expect(() => readSavedControls(path)).toThrow(/other users can write/);
    writeFileSync(path, 'null');
    chmodSync(path, 0o600);
    expect(() => readSavedControls(path)).toThrow(/no file of settings/);
    symlinkSync(path, join(own, 'link.json'));
    expect(() => readSavedControls(join(own, 'link.json'))).toThrow(/is a symbolic link/);
  });
});

describe('a trusted file', () => {
  it('has a largest size, and is a file', () => {
    expect(readTrusted(secret, 9)).toBe('untouched');
    expect(() => readTrusted(secret, 8)).toThrow('is larger than 8 bytes');
    expect(() => readTrusted('/dev/zero', 8)).toThrow('/dev/zero: is not a file');
  });

  it('opened below a folder is never made, and never cut off', () => {
    const path = join(own, 'none');
    expect(() => openBelow(own, path, 0o1101)).toThrow('ENOENT');
    openBelow(own, secret, 0o1001);
    expect(text(secret)).toBe('untouched');
    expect(() => openBelow(join(own, '..', 'restoring-0'), '/dev/null', 1)).toThrow('leads out of');
    expect(existsSync(path)).toBe(false);
  });
});
