/** The C library writes the page that the reader reads. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { regionHash } from 'triscope/region';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApplicationProcess } from '../../src/region/controller/process-table.ts';
import { PageReader } from '../../src/region/page-reader.ts';
import { counts, ended, freshFolder, marked, readers, start } from './pages.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

const FLAGS = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread', '-I', NATIVE];

let folder = '';
let library = '';
beforeAll(() => {
  folder = freshFolder();
  library = join(folder, 'library.o');
  if (!has('cc')) return;
  const source = join(NATIVE, 'triscope_region.c');
  execFileSync('cc', [...FLAGS, '-c', '-o', library, source], { stdio: 'pipe' });
});

/** Compiles a C program with the library. */
function compiled(name: string, body: string): string {
  const source = join(folder, `${name}.c`);
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "triscope_region.h"
${body}`,
  );
  const program = join(folder, name);
  execFileSync('cc', [...FLAGS, '-o', program, source, library], { stdio: 'pipe' });
  return program;
}

describe.skipIf(!has('cc'))('a C program (needs cc)', () => {
  it('marks as Node does: hierarchy, hints, epochs, progress, names', async () => {
    const name = compiled(
      'plain',
      `int main(void) {
        int outer = triscope_region("say \\"outer\\"", TRISCOPE_HINT_COMPUTE), inner = triscope_region("inner", 4);
        if (triscope_region("inner", 5) != inner) return 1;
        for (int k = 0; k < 3; k++) {
          triscope_epoch();
          triscope_enter(outer);
          triscope_work(10); triscope_work_done();
          triscope_enter(inner); usleep(1000); triscope_exit(inner);
          triscope_exit(outer);
        }
        triscope_enter(triscope_region("\\xff\\xfe", 99));
        triscope_work(7); triscope_work_done(); triscope_work_done();
        return 0;
      }`,
    );
    const { seen, page, code } = await marked([name], {
      PMI_RANK: '3',
      TRISCOPE_REGION_RING: '32',
    });
    expect(code).toBe(0);
    expect(counts(seen)).toEqual({ 'say "outer"': 3, 'say "outer"/inner': 3, '\ufffd\ufffd': 0 });
    expect(seen.regions.map(({ name, hint }) => `${name} ${hint}`)).toEqual([
      '(overflow) unknown',
      'say "outer" compute',
      'inner network',
      '\ufffd\ufffd unknown',
    ]);
    expect(seen.regions[2].hash).toBe(regionHash('inner'));
    expect(seen.regions[3].hash).toBe(regionHash(Uint8Array.of(0xff, 0xfe)));
    expect(seen.nodes[1].seconds).toBeGreaterThanOrEqual(0.003);
    expect([page.hash[0], page.hint[0], page.depth[0]]).toEqual([seen.regions[3].hash, 1, 1]);
    expect([page.workTotal[0], page.workDone[0]]).toEqual([7, 2]);
    expect([page.epochs, page.rank, page.processName]).toEqual([3, 3, 'plain']);
    expect(page.stopped).toBeGreaterThan(page.lastEpoch);
    const events: number[] = [];
    page.events(({ code, depth }) => events.push(10 * code + depth));
    expect(events.slice(0, 6)).toEqual([20, 1, 2, 12, 11, 20]);
    expect(events).toHaveLength(16);
  });

  it('marks nothing once its time has ended', async () => {
    const name = compiled(
      'over',
      `int main(void) {
        uint64_t a;
        geopm_prof_region("A", 2, &a);
        geopm_prof_enter(a); geopm_prof_exit(a); geopm_prof_epoch();
        geopm_prof_shutdown();
        int wrong = geopm_prof_enter(a) || geopm_prof_exit(a) || geopm_prof_epoch();
        geopm_prof_shutdown();
        return wrong;
      }`,
    );
    const { seen, page, code } = await marked([name]);
    expect([code, counts(seen), page.epochs]).toEqual([0, { A: 1 }, 1]);
  });

  it('marked for GEOPM runs unchanged', async () => {
    const name = compiled(
      'geopm',
      `int main(void) {
        uint64_t a, b, again;
        int wrong = geopm_prof_region("A", 2, &a) || geopm_prof_region("B", 4, &b) || geopm_prof_region("A", 3, &again);
        geopm_tprof_init(4);
        wrong |= geopm_prof_epoch() || geopm_prof_enter(a) || geopm_prof_enter(b) || geopm_tprof_init(4) || geopm_tprof_post();
        wrong |= geopm_prof_exit(b) || geopm_prof_exit(a) || geopm_prof_overhead(0.25);
        printf("%d %lx %lx %d %d %d\\n", wrong, (unsigned long)a, (unsigned long)b, again == a, geopm_prof_exit(b),
               geopm_prof_region("C", 11, &b));
        return geopm_prof_shutdown();
      }`,
    );
    const { seen, page, stdout, stderr, code } = await marked([name]);
    expect(code).toBe(0);
    expect(stdout.trim()).toBe('0 2d3d99e8b 44ad0cf31 1 -1 -3');
    expect(counts(seen)).toEqual({ A: 1, 'A/B': 1 });
    expect(seen.regions.slice(1).map(({ hint }) => hint)).toEqual(['compute', 'network']);
    expect(page.epochs).toBe(1);
    expect(page.overhead).toBe(0.25);
    expect(seen.misordered).toBe(1);
    expect(stderr).toContain("triscope: region 'B' was left without having been entered");
  });

  it('announces work by every thread, and progress ends at 1', async () => {
    const name = compiled(
      'progress',
      `static void *work(void *nothing) {
        geopm_tprof_init(100);
        for (int k = 0; k < 25; k++) geopm_tprof_post();
        return nothing;
      }
      int main(void) {
        uint64_t before, r;
        pthread_t t[4];
        geopm_prof_region("before", 2, &before);
        geopm_prof_enter(before); geopm_tprof_init(7); geopm_tprof_post(); geopm_prof_exit(before);
        geopm_prof_region("r", 2, &r);
        geopm_prof_enter(r);
        for (int k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, NULL);
        for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
        raise(SIGKILL);
      }`,
    );
    const { page } = await marked([name]);
    const process = new ApplicationProcess(new PageReader(page.path), null);
    process.poll();
    expect(process.progress).toBe(1);
  });

  it('keeps the hint UNSET, counts no epochs in regions to be ignored, and leaves by GEOPM’s rule', async () => {
    const name = compiled(
      'rules',
      `int main(void) {
        uint64_t unset, ignored, a, b;
        geopm_prof_region("unset", 0, &unset); geopm_prof_region("ignored", 8, &ignored);
        geopm_prof_region("a", 2, &a); geopm_prof_region("b", 2, &b);
        geopm_prof_epoch();
        geopm_prof_enter(ignored); geopm_prof_epoch();
        geopm_prof_enter(a); geopm_prof_epoch(); geopm_prof_exit(a); geopm_prof_exit(ignored);
        geopm_prof_enter(a); geopm_prof_enter(b);
        printf("%d ", geopm_prof_exit(a));
        printf("%d ", geopm_prof_exit(b));
        printf("%d ", geopm_prof_exit(a));
        printf("%d", geopm_prof_enter(0x500001234) || geopm_prof_exit(0x500001234));
        geopm_prof_enter(unset);
        fflush(stdout);
        _exit(0);
      }`,
    );
    const { seen, page, stdout } = await marked([name]);
    expect(stdout).toBe('0 0 -1 0');
    expect(page.epochs).toBe(1);
    expect(page.hint[0]).toBe(0);
    expect(page.stopped).not.toBeNull();
    expect(counts(seen)).toEqual({
      ignored: 1,
      'ignored/a': 1,
      a: 1,
      'a/b': 1,
      '0x00001234': 1,
      unset: 0,
    });
    expect(seen.regions.at(-1)).toMatchObject({ hash: 0x1234, hint: 'io' });
  });

  it('may have many threads, one after another and at once', async () => {
    const name = compiled(
      'threads',
      `static void *work(void *name) {
        int r = triscope_region("shared", 2), own = triscope_region(name, 3);
        for (int k = 0; k < 10000; k++) { triscope_enter(r); triscope_enter(own); triscope_exit(own); triscope_exit(r); }
        if (strcmp(name, "late")) triscope_enter(r);
        return NULL;
      }
      int main(void) {
        pthread_t t[40];
        for (int round = 0; round < 10; round++) {
          for (int k = 0; k < 40; k++) pthread_create(&t[k], NULL, work, round < 9 ? "early" : "late");
          for (int k = 0; k < 40; k++) pthread_join(t[k], NULL);
        }
        return 0;
      }`,
    );
    const { seen, code } = await marked([name]);
    expect(code).toBe(0);
    // One of a thread that ended is taken before a new one.
    expect(seen.threads.length).toBeLessThanOrEqual(40);
    expect(seen.threads.every(({ alive }) => !alive)).toBe(true);
    expect(seen.threadsRefused).toBe(0);
    expect(counts(seen)).toEqual({
      shared: 4_000_000,
      'shared/early': 3_600_000,
      'shared/late': 400_000,
    });
  });

  it('may have thousands of threads at once: those beyond 2048 have slots with less room', async () => {
    const name = compiled(
      'crowd',
      `static pthread_barrier_t barrier;
      static void *work(void *nothing) {
        uint32_t r = triscope_region("r", 2);
        triscope_enter(r);
        pthread_barrier_wait(&barrier);
        triscope_exit(r);
        return nothing;
      }
      int main(void) {
        pthread_t t[3000];
        pthread_barrier_init(&barrier, NULL, 3000);
        for (int k = 0; k < 3000; k++) pthread_create(&t[k], NULL, work, NULL);
        for (int k = 0; k < 3000; k++) pthread_join(t[k], NULL);
        return 0;
      }`,
    );
    const { seen, code } = await marked([name]);
    expect(code).toBe(0);
    expect([seen.threads.length, seen.threadsRefused, seen.unplaced]).toEqual([3000, 0, 0]);
    const visits = seen.nodes.filter(({ parent }) => parent === -1);
    expect([visits.length, visits.every(({ count }) => count === 1)]).toEqual([3000, true]);
  });

  it('may fork inside a region: the child has a page of its own, with the names', async () => {
    const name = compiled(
      'forks',
      `int main(void) {
        int r = triscope_region("r", 2), other = triscope_region("other", 3);
        triscope_enter(r);
        for (int k = 0; k < 3; k++) {
          if (fork() == 0) {
            if (k == 2) _exit(0); /* never marks: no page */
            triscope_exit(r);
            triscope_enter(other); triscope_exit(other);
            if (k == 1 && fork() == 0) { triscope_enter(triscope_region("new", 5)); triscope_exit(r); triscope_enter(other); _exit(0); }
            while (wait(NULL) > 0) {}
            return 0;
          }
        }
        while (wait(NULL) > 0) {}
        triscope_exit(r);
        return 0;
      }`,
    );
    const pages = freshFolder();
    expect((await ended(start([name], pages))).code).toBe(0);
    const all = readers(pages).map((page) => counts(page.snapshot()));
    expect(all).toHaveLength(4);
    expect(all).toEqual(
      expect.arrayContaining([{ r: 1 }, { other: 1 }, { other: 1 }, { new: 0, 'new/other': 0 }]),
    );
  });

  it('gets a new page from exec', async () => {
    const name = compiled(
      'exec',
      `int main(int argc, char **argv) {
        triscope_enter(triscope_region(argc > 1 ? "second" : "first", 2));
        if (argc == 1) execl(argv[0], argv[0], "again", NULL);
        return 0;
      }`,
    );
    const pages = freshFolder();
    await ended(start([name], pages));
    const all = readers(pages);
    expect(all.map(({ pid }) => pid)).toEqual([all[0].pid, all[0].pid]);
    expect(all.map((page) => counts(page.snapshot()))).toEqual(
      expect.arrayContaining([{ first: 0 }, { second: 0 }]),
    );
  });

  it('killed in a region leaves what it marked', async () => {
    const name = compiled(
      'killed',
      `int main(void) {
        int done = triscope_region("done", 2);
        triscope_enter(done); triscope_exit(done);
        triscope_enter(triscope_region("open", 4));
        raise(SIGKILL);
      }`,
    );
    const { seen, page, signal } = await marked([name]);
    expect(signal).toBe('SIGKILL');
    expect(counts(seen)).toEqual({ done: 1, open: 0 });
    expect(page.stopped).toBeNull();
    expect([page.hash[0], page.hint[0]]).toEqual([regionHash('open'), 4]);
  });

  it('may flood it with names', async () => {
    const name = compiled(
      'flood',
      `int main(void) {
        char name[32];
        for (int k = 0; k < 1000000; k++) {
          sprintf(name, "name %d", k);
          uint64_t r;
          geopm_prof_region(name, 2, &r);
          geopm_prof_enter(r); geopm_prof_exit(r);
        }
        return 0;
      }`,
    );
    const { seen, code } = await marked([name]);
    expect(code).toBe(0);
    expect(seen.regions).toHaveLength(4096);
    expect(counts(seen)['(overflow)']).toBe(1_000_000 - 4095);
    expect(seen.regionsRefused).toBe(1_000_000 - 4095);
  });

  it('does nothing, and runs, without a folder or with a bad one', async () => {
    const name = compiled(
      'alone',
      `int main(void) {
        uint64_t id;
        int r = triscope_region("r", 2);
        triscope_enter(r); triscope_epoch(); triscope_work(3);
        return triscope_exit(r) || geopm_prof_region("x", 2, &id) || geopm_prof_enter(id) || geopm_prof_exit(id);
      }`,
    );
    expect(await ended(start([name], ''))).toMatchObject({ code: 0, stderr: '' });
    const bad = await ended(start([name], '/proc/nowhere'));
    expect(bad.code).toBe(0);
    expect(bad.stderr).toMatch(/^triscope: regions are not kept: .*\n$/);
  });
});
