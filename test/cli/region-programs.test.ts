/**
 * Kinds of programs that mark their regions: each field of their reports computed again from the traces, and each region's time beside
 * the program's own clock. Threads in a row, nested, forked, exec'd, multiprocessing, Node workers.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agrees, has, inC, MARKING, python, run } from './support/own-programs.ts';
import { addsUp, launched, programFolder } from './support/region.ts';

describe.skipIf(!has('python3'))('Python programs (need python3)', () => {
  it('of several processes, whose parent only imports the module, are complete', async () => {
    const run = await python(`
if __name__ == "__main__":
    children = [multiprocessing.Process(target=visit, args=("work", 0.2)) for _ in range(3)]
    for child in children: child.start()
    for child in children: child.join()
`);
    expect([run.code, run.err]).toEqual([0, '']);
    expect(run.host.Triscope.processes).toHaveLength(3);
    expect(run.host.Triscope.complete).toBe(true);
    agrees(run, 'work');
    addsUp(run);
  });

  it('that become another program end when they do', async () => {
    const run = await python(`
if len(sys.argv) == 1:
    visit("first", 0.1)
    triscope.region("left open").enter()
    os.execv(sys.executable, ["python3", "app.py", "again"])
visit("second", 0.1)
`);
    expect([run.code, run.err]).toEqual([0, '']);
    const { processes, complete } = run.host.Triscope;
    expect(complete).toBe(true);
    expect(processes.map(({ replaced = false }) => replaced)).toEqual([true, false]);
    expect(processes[0].pid).toBe(processes[1].pid);
    const [[first], [second]] = processes.map(({ regions }) => regions);
    expect([first.region, second.region]).toEqual(['first', 'second']);
    // What becomes another program is seen to have ended a sample or two later.
    agrees(run, 'first', 1e-6, 0.06);
    agrees(run, 'second', 1e-6, 0.06);
    // The first program's time ends where the second one's begins.
    const spans = processes.map((process) => Number(process['runtime (s)']));
    const whole = Number(run.host['Application Totals']['runtime (s)']);
    expect(spans[0] + spans[1]).toBeLessThanOrEqual(whole + 1e-6);
  });

  it('that end by os._exit end in good order', async () => {
    const run = await python('visit("work", 0.05)\nos._exit(3)\n');
    expect(run.code).toBe(3);
    expect(run.host.Triscope.complete).toBe(true);
    agrees(run, 'work');
    addsUp(run);
  });

  it('are seen where --geopm-program-filter names them', async () => {
    const text = 'visit("work", 0.01)\n';
    const [seen, unseen] = await Promise.all([
      python(text, ['--geopm-program-filter=other,app.py']),
      python(text, ['--geopm-program-filter=other']),
    ]);
    expect(seen.host.Triscope.processes).toHaveLength(1);
    expect(unseen.host.Triscope.processes).toHaveLength(0);
    expect(existsSync(join(unseen.folder, 'geopm.report'))).toBe(true);
  });
});

describe.skipIf(!has('cc'))('a program in C (needs gcc)', () => {
  it('whose threads follow each other', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static double within, around;
static void *work(void *nothing) {
  int row = triscope_region("row", TRISCOPE_HINT_COMPUTE);
  double began = now();
  triscope_enter(row);
  double entered = now();
  usleep(5000);
  within += now() - entered;
  triscope_exit(row);
  around += now() - began;
  return nothing;
}
int main(void) {
  for (int k = 0; k < 40; k++) {
    pthread_t thread;
    triscope_epoch();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    usleep(2000);
  }
  own("row", within, around, 40);
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    expect(outcome.host['Epoch Totals']?.count).toBe(40);
    agrees(outcome, 'row');
  });

  it('that marks before MPI_Init: its time begins with the first mark', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static double within, around;
static void visit(void) {
  int region = triscope_region("work", TRISCOPE_HINT_COMPUTE);
  double began = now();
  triscope_enter(region);
  double entered = now();
  usleep(60000);
  within += now() - entered;
  triscope_exit(region);
  around += now() - began;
}
int main(void) {
  visit();
  usleep(40000);
  triscope_start(1); /* as MPI_Init does */
  visit();
  triscope_stop(1);
  own("work", within, around, 2);
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    agrees(outcome, 'work');
    addsUp(outcome);
    const sections = [...(outcome.host.Regions ?? []), outcome.host['Unmarked Totals'] ?? {}];
    const sum = sections.reduce((total, one) => total + Number(one['runtime (s)']), 0);
    expect(sum).toBeCloseTo(Number(outcome.host['Application Totals']['runtime (s)']), 5);
  });

  it('that forks and nests', async () => {
    const folder = inC(
      `#include "triscope_region.h"
static void visit(const char *name, const char *inner, int milliseconds) {
  int outside = triscope_region(name, inner ? TRISCOPE_HINT_COMPUTE : TRISCOPE_HINT_MEMORY);
  double began = now();
  triscope_enter(outside);
  double entered = now();
  if (inner) visit(inner, NULL, milliseconds);
  usleep(1000 * milliseconds);
  double within = now() - entered;
  triscope_exit(outside);
  own(name, within, now() - began, 1);
}
int main(void) {
  visit("first", NULL, 50);
  for (int k = 0; k < 2; k++) {
    if (fork() == 0) {
      visit("outer", "inner", 100);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}`,
      'cc',
      MARKING,
    );
    const outcome = await run(folder);
    const { host } = outcome;
    expect(host.Triscope.processes).toHaveLength(3);
    agrees(outcome, 'first');
    agrees(outcome, 'outer');
    addsUp(outcome);
    // Time goes to the outermost region; what is inside it is told with the process.
    const names = host.Regions?.map(({ region }) => region);
    expect(names?.toSorted()).toEqual(['first', 'outer']);
    expect(JSON.stringify(host.Triscope.regions)).toContain('"inner"');
  });
});

describe('a Node program', () => {
  it('that ends between samples: hints end where time does', async () => {
    const body = "const r = region('r', 'compute'); r.enter(); sleep(150); r.exit();";
    const run = await launched(programFolder(body), ['--geopm-period=0.1', '--synthetic']);
    addsUp(run);
    expect(run.host.Triscope.complete).toBe(true);
  });

  it('of workers that overlap', async () => {
    const folder = programFolder(`
      import { writeFileSync } from 'node:fs';
      import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
      const seconds = () => Number(process.hrtime.bigint()) / 1e9;
      if (isMainThread) {
        const times = await Promise.all([100, 200, 250].map((ms) => new Promise((resolve) => {
          new Worker(new URL(import.meta.url), { workerData: ms }).once('message', resolve);
        })));
        // On a busy machine one may have ended before another begins.
        const covered = (from, to) => {
          let [sum, until] = [0, 0];
          for (const t of times.toSorted((a, b) => a[from] - b[from])) {
            sum += Math.max(0, t[to] - Math.max(t[from], until));
            until = Math.max(until, t[to]);
          }
          return sum;
        };
        writeFileSync('own-work-' + process.pid, [covered(1, 2), covered(0, 3), 3].join(' '));
      } else {
        const r = region('work', 'parallel');
        const began = seconds();
        r.enter();
        const entered = seconds();
        sleep(workerData);
        const left = seconds();
        r.exit();
        parentPort.postMessage([began, entered, left, seconds()]);
      }
    `);
    agrees(await run(folder, [process.execPath, 'app.mjs']), 'work');
  });
});
