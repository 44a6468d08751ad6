/** Code that only the start needed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeOf, releaseStart } from '../../src/os/code-pages.ts';

const block = (line: string, dirty: number) =>
  `${line}\nSize:   8 kB\nPrivate_Clean:   4 kB\nPrivate_Dirty:   ${dirty} kB\nVmFlags: rd ex`;

describe('code of programs', () => {
  it('is what is run or only read, from a file, and was not changed', () => {
    const smaps = [
      block('7f00000000-7f00002000 r-xp 00001000 fd:00 77 /usr/bin/node', 0),
      block('7f00005000-7f00006000 r--p 00005000 fd:00 77 /usr/bin/node', 0),
      block('7f00006000-7f00007000 r--p 00006000 fd:00 77 /usr/bin/node', 4),
      block('7f00002000-7f00003000 r-xp 00003000 fd:00 77 /usr/bin/node', 4),
      block('7f00003000-7f00004000 rw-p 00004000 fd:00 77 /usr/bin/node', 0),
      block('7f00004000-7f00005000 r-xp 00000000 00:00 0 ', 0),
      block('ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0 [vsyscall]', 0),
    ].join('\n');
    expect([...codeOf(smaps)]).toEqual([
      [0x7f00000000n, 0x2000n],
      [0x7f00005000n, 0x1000n],
    ]);
  });

  it.skipIf(process.platform !== 'linux')('comes back as it is run', () => {
    const resident = () =>
      Number(/^RssFile:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
    const before = resident();
    releaseStart();
    expect(resident()).toBeLessThan(before);
    expect(JSON.parse('[1, {"a": [2]}]')).toEqual([1, { a: [2] }]);
  });
});
