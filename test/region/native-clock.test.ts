/** The clock of marks in C: the processor's counter between readings of the kernel's clock. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { unitedSeconds } from '../../src/region/page-snapshot.ts';
import { freshFolder } from './pages.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

/**
 * The library's own functions: marks' times between two readings of the kernel's clock each, with and without the counter, and
 * after pauses. Prints by how many ns the worst lay outside, how many went back, and how many readings were the counter's.
 */
const PROGRAM = `#include "triscope_region.c"
int main(int argc, char **argv) {
    struct header p = {.start_ns = clock_ns(CLOCK_MONOTONIC)};
    struct ticks t = {0};
    double worst = 0, last = 0;
    long back = 0, counted = 0;
    look_at_clock();
    if (argc > 1 && strcmp(argv[1], "kernel") == 0) counts_cycles = 0;
    for (int k = 0; k < 200000; k++) {
        uint64_t cycles = t.cycles;
        double before = now(&p), time = mark_time(&p, &t), after = now(&p);
        if (before - time > worst) worst = before - time;
        if (time - after > worst) worst = time - after;
        back += time < last;
        counted += counts_cycles && t.cycles == cycles;
        last = time;
        if (k % 50000 == 0) usleep(30000);
    }
    printf("%.0f %ld %ld\\n", worst, back, counted);
    return 0;
}
`;

it.skipIf(!has('cc'))('agrees with the kernel’s clock, and never goes back (needs cc)', () => {
  const folder = freshFolder();
  const source = join(folder, 'clock.c');
  writeFileSync(source, PROGRAM);
  const program = join(folder, 'clock');
  execFileSync('cc', ['-std=gnu11', '-O2', '-pthread', '-I', NATIVE, '-o', program, source]);
  const told = (clock: string) =>
    execFileSync(program, [clock], { encoding: 'utf8' }).split(' ').map(Number);
  const [worst, back, counted] = told('counter');
  // At most 0.5 µs by which the kernel may correct its clock in a millisecond, and half of what a comparison may take.
  expect(worst).toBeLessThan(2000);
  expect(back).toBe(0);
  // Where the kernel's clock is another, each is the kernel's.
  expect(counted === 0 || counted > 50_000).toBe(true);
  expect(told('kernel')).toEqual([0, 0, 0]);
});

it('makes no negative time of threads whose clocks differ by nanoseconds', () => {
  expect(unitedSeconds({ ns: 2n ** 64n - 5n, open: false }, 1)).toBe(0);
  expect(unitedSeconds({ ns: 2n ** 64n - 500_000_000n, open: true }, 2)).toBe(1.5);
});
