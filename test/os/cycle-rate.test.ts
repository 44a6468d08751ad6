/** How fast a machine says that its cycle counter runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cycleRate } from '../../src/os/cycle-rate.ts';
import { temporaryFolder } from '../cli/support/run.ts';

it('the kernel, the processor’s name or a hypervisor tells; else nobody does', () => {
  const machine = temporaryFolder();
  const put = (path: string, text: string) => {
    mkdirSync(join(machine, path, '..'), { recursive: true });
    writeFileSync(join(machine, path), text);
  };
  const told = (name: string, flags: string) => {
    put('proc/cpuinfo', `model name\t: ${name}\ncpu MHz\t\t: 1234.500\nflags\t\t: fpu ${flags}\n`);
    return cycleRate(machine)?.rate ?? null;
  };
  expect(cycleRate(machine)).toBeNull();
  expect(told('Some CPU', 'tsc')).toBeNull();
  expect(told('Some CPU @ 2.60GHz', 'tsc')).toBe(2.6e9);
  expect(told('Some CPU', 'tsc hypervisor')).toBe(1_234_500_000);
  expect(told('Some CPU @ 2.60GHz', 'aes')).toBeNull();
  put('sys/devices/system/cpu/cpu0/tsc_freq_khz', '2596124\n');
  expect(told('Some CPU @ 2.60GHz', 'tsc')).toBe(2_596_124_000);
});
