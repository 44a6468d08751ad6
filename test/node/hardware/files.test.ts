/** Registers of this machine are files of the kernel: here ordinary files stand for them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RegisterFile } from '../../../dist/node/hardware/registers.js';
import { ioctl } from '../../../dist/os/ioctl.js';
import { Umad } from '../../../dist/os/umad.js';
import { folder } from './support.ts';

const MODULE = fileURLToPath(new URL('../../../dist/node/hardware/registers.js', import.meta.url));

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe('a register', () => {
  it('is read at its own offset, 64 bits exactly', () => {
    const bytes = Buffer.alloc(0x1000);
    bytes.writeBigUInt64LE(0xfedcba9876543210n, 0xc1);
    const space = new RegisterFile('msr 0', file('msr', bytes));
    const words = new Uint32Array(2);
    space.read(0xc1, 8, words);
    expect([...words]).toEqual([0x76543210, 0xfedcba98]);
    space.read(0xc1, 4, words);
    expect([...words]).toEqual([0x76543210, 0]);
    space.close();
  });

  it('is written to alone', () => {
    const path = file('written', Buffer.alloc(0x400));
    const space = new RegisterFile('msr 0', path);
    const words = new Uint32Array(2);
    space.write(0x186, 8, 0x4381d0n);
    space.read(0x186, 8, words);
    expect([...words]).toEqual([0x4381d0, 0]);
    space.write(0xd8, 4, 0x1400304n);
    space.read(0xd8, 8, words);
    expect([...words]).toEqual([0x1400304, 0]);
    space.close();
  });

  it('of a configuration space cut to 64 bytes asks for privileges', () => {
    const space = new RegisterFile('pci 7f/10.0', file('short', Buffer.alloc(64)));
    expect(() => space.read(0xa0, 8, new Uint32Array(2))).toThrow(
      /needs to read all of .* \(root\)/,
    );
    space.close();
  });

  it('of a machine without the device says what makes it', () => {
    expect(() => new RegisterFile('msr 0', join(folder, 'none'))).toThrow(
      /none cannot be opened: ENOENT \(modprobe msr\)/,
    );
  });

  it.skipIf(process.getuid?.() !== 0)('that others may not read says so', () => {
    const path = file('secret', Buffer.alloc(8));
    chmodSync(path, 0o600);
    chmodSync(folder, 0o755);
    const script = `
      const { RegisterFile } = await import(${JSON.stringify(MODULE)});
      process.setuid(65534);
      try { new RegisterFile('msr 0', ${JSON.stringify(path)}); } catch (error) { console.log(error.message); }`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(said.toString().trim()).toBe(`needs to read ${path} (root)`);
  });
});

describe.skipIf(process.platform !== 'linux')('ioctl', () => {
  it('fills the buffer, and says whether it succeeded', () => {
    const FIONREAD = 0x541b;
    const open = openSync(file('ten', Buffer.alloc(10)), 'r');
    const buffer = Buffer.alloc(4);
    expect(ioctl(open, FIONREAD, buffer)).toBe(true);
    expect(buffer.readInt32LE(0)).toBe(10);
    // A file is no umad device.
    expect(ioctl(open, 0x1b03, null)).toBe(false);
    closeSync(open);
  });

  it('of a device that is not there is never asked', () => {
    expect(() => new Umad(join(folder, 'umad0'))).toThrow('ENOENT');
  });

  it('that finds no agent says so', () => {
    const device = new Umad(file('umad1', Buffer.alloc(0)));
    const agent = { queuePair: 1, managementClass: 4, classVersion: 1 } as const;
    expect(() => device.exchange(agent, 18, Buffer.alloc(256))).toThrow(
      'no agent for management class 4',
    );
    device.close();
  });
});
