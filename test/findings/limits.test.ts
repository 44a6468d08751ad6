/** What is said of commands that memory, a link, heat or servers of Lustre limit. */
import { afterAll, expect, it } from 'vitest';
import { findingsAt, removeFolder, said } from './support/findings.ts';
import { hot, limited, loaded, lustre } from './support/limits.ts';

afterAll(removeFolder);

it('a memory limit is told with who has most, when, and whom the kernel killed', async () => {
  expect(said(await findingsAt(limited(980, 1), 'memory-limit'))).toEqual([
    'problem: Control group /job of h1 had 98 % of the 1000 B that it may have in use, from 5.00 to 10.00 s; the kernel killed a process for it; process 7 (app) had most, 300 B.',
  ]);
});

it('heat is told by package, with its time', async () => {
  const [found] = await findingsAt(hot(400), 'heat');
  expect(said([found])).toEqual([
    'problem: Processor package 1 of h1 had slowed down for heat for 20 % of the time, 5 times in 10 s, from 5.00 to 10.00 s.',
  ]);
  expect(found.evidence.rows[0]).toMatchObject({ from: 5, to: 10 });
});

it('a full link is others’ only where the command’s calls cannot have filled it', async () => {
  const start =
    'problem: Link eth0 of h1 (1 kB/s) was full for 60 % of the time, from 4.00 to 10.00 s: it carried 5.4 kB';
  expect(said(await findingsAt(loaded(900, 6, 200), 'full-link'))).toEqual([
    `${start}: mostly others’, since calls of the command moved 2 kB at most.`,
  ]);
  expect(said(await findingsAt(loaded(900, 6, 300), 'full-link'))).toEqual([`${start}.`]);
  // What goes past the kernel is no call.
  const [verbs] = said(await findingsAt(loaded(900, 6, 0, 'mlx5_0/1'), 'full-link'));
  expect(verbs).toMatch(/it carried 5\.4 kB\.$/);
});

it('servers of Lustre that answer late while this host asks little are kept busy by others', async () => {
  expect(said(await findingsAt(lustre(300, 2e6), 'slow-lustre'))).toEqual([
    'problem: The object servers of Lustre work took 300 ms for each of 200 requests of h1: it moved 2 MB/s, so others keep them busy.',
  ]);
  const [own] = said(await findingsAt(lustre(300, 2e8), 'slow-lustre'));
  expect(own).toMatch(/requests of h1\.$/);
});
