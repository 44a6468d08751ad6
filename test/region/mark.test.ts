/** Marking in Node, read back from the page. */
import { execFileSync } from 'node:child_process';
import { regionHash } from 'triscope/region';
import { describe, expect, it } from 'vitest';
import { counts, ended, freshFolder, inNode, program, readers, start } from './pages.ts';

describe('regions of one thread', () => {
  it('are counted and timed', async () => {
    const { seen, page, code } = await inNode(`
      const r = region('work', 'compute');
      for (let k = 0; k < 3; k++) { r.enter(); const end = performance.now() + 20; while (performance.now() < end); r.exit(); }
    `);
    expect(code).toBe(0);
    const [node] = seen.nodes;
    expect(seen.regions[node.region]).toEqual({
      name: 'work',
      hash: regionHash('work'),
      hint: 'compute',
    });
    expect(node).toMatchObject({ count: 3, inside: 0, entered: null, parent: -1, async: false });
    expect(node.seconds).toBeGreaterThanOrEqual(0.06);
    expect(page.stopped).toBeGreaterThanOrEqual(0.06);
    expect(page.started).toBe(0);
    expect(seen.threads).toEqual([{ tid: page.pid, alive: false, depth: 0 }]);
  });

  it('nest: a tree of its own for the hierarchy, with the outermost hash and the innermost hint', async () => {
    const { seen, stdout, page } = await inNode(`
      import { readdirSync } from 'node:fs';
      import { PageReader } from ${JSON.stringify(new URL('../../dist/region/index.js', import.meta.url).href)};
      const outer = region('outer', 'compute'), inner = region('inner', 'network');
      const dir = process.env.TRISCOPE_REGION_DIR;
      const page = new PageReader(dir + '/' + readdirSync(dir)[0]);
      const say = () => { page.poll(); console.log(page.hash[0], page.hint[0], page.depth[0]); };
      outer.enter(); say();
      inner.enter(); say();
      inner.exit(); say();
      outer.exit(); say();
      inner.run(() => say());
    `);
    const [outer, inner] = [regionHash('outer'), regionHash('inner')];
    expect(stdout.trim().split('\n')).toEqual([
      `${outer} 2 1`,
      `${outer} 4 2`,
      `${outer} 2 1`,
      '0 0 0',
      `${inner} 4 1`,
    ]);
    expect(counts(seen)).toEqual({ outer: 1, 'outer/inner': 1, inner: 1 });
    expect(page.hash[0]).toBe(0);
  });

  it('recover from exits out of order, with one warning', async () => {
    const { seen, stderr, code } = await inNode(`
      const a = region('a'), b = region('b'), c = region('c');
      a.enter(); b.enter(); a.exit();
      c.exit();
      a.enter(); a.exit();
    `);
    expect(code).toBe(0);
    expect(stderr.match(/RegionWarning/g)).toHaveLength(1);
    expect(stderr).toContain("region 'a' was left while inside 'b'");
    expect(counts(seen)).toEqual({ a: 2, 'a/b': 1 });
    expect(seen.misordered).toBe(2);
  });

  it('keep the hint that they were first given', async () => {
    const { seen, stdout } = await inNode(`
      const r = region('x', 'memory');
      console.log(region('x', 'io') === r, region('x', 'io').hint, region('plain').hint);
    `);
    expect(stdout.trim()).toBe('true memory unknown');
    expect(seen.regions.map(({ name, hint }) => [name, hint])).toEqual([
      ['(overflow)', 'unknown'],
      ['x', 'memory'],
      ['plain', 'unknown'],
    ]);
  });

  it('may be 64 deep; deeper entries are counted as such', async () => {
    const { seen } = await inNode(`
      const r = region('r');
      for (let k = 0; k < 100; k++) r.enter();
      for (let k = 0; k < 100; k++) r.exit();
      region('after').run(() => {});
    `);
    expect(seen.nodes).toHaveLength(65);
    expect(seen.unplaced).toBe(36);
    expect(seen.misordered).toBe(0);
    expect(counts(seen)).toMatchObject({ r: 1, 'r/r': 1, after: 1 });
  });

  it('refuse a hint of no such name', async () => {
    const { stdout } = await inNode(`
      epoch();
      try { region('x', 'quantum'); } catch (error) { console.log(error.name, error.message); }
    `);
    expect(stdout).toMatch(/^RangeError hint 'quantum': must be one of unset, unknown, compute,/);
  });
});

describe('run()', () => {
  it('leaves the region however the work ends, and gives its result', async () => {
    const { seen, stdout } = await inNode(`
      const r = region('r');
      console.log(r.run(() => 7));
      try { r.run(() => { throw new Error('broken'); }); } catch (error) { console.log(error.message); }
    `);
    expect(stdout).toBe('7\nbroken\n');
    expect(counts(seen)).toEqual({ r: 2 });
    expect(seen.nodes[0].inside).toBe(0);
  });

  it('counts asynchronous spans apart, as they overlap', async () => {
    const { seen, stdout } = await inNode(`
      const r = region('wait', 'io');
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const results = await Promise.allSettled([
        r.run(() => sleep(60).then(() => 1)),
        r.run(async () => { await sleep(60); throw new Error('no'); }),
        r.run(async () => 3),
      ]);
      console.log(results.map((one) => one.value ?? one.reason.message).join());
      r.run(() => {});
    `);
    expect(stdout.trim()).toBe('1,no,3');
    expect(counts(seen)).toEqual({ wait: 1, 'async wait': 3 });
    const [spans] = seen.nodes.filter((node) => node.async);
    expect(spans.inside).toBe(0);
    expect(spans.seconds).toBeGreaterThan(0.11);
    expect(seen.threads[0].depth).toBe(0);
  });
});

describe('names', () => {
  it('may be anything: quotes, newlines, 10 kB, half a surrogate pair, nothing', async () => {
    const names = [
      'say "hello"',
      'two\nlines',
      'x'.repeat(10_000),
      'half \ud800',
      'solve halo/é',
      '',
    ];
    const { seen } = await inNode(`
      for (const name of ${JSON.stringify(names)}) region(name).run(() => {});
    `);
    const expected = names.map((name) => name.replace('\ud800', '\ufffd'));
    expect(seen.regions.slice(1).map((r) => r.name)).toEqual(expected);
    expect(seen.regions.slice(1).map((r) => r.hash)).toEqual(expected.map((n) => regionHash(n)));
    expect(seen.nodes.map((node) => node.count)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('beyond what the page holds share one region: a million do no harm', async () => {
    const { seen, code } = await inNode(`
      for (let k = 0; k < 1_000_000; k++) { const r = region('name ' + k); r.enter(); r.exit(); }
      region('name 5').run(() => {});
    `);
    expect(code).toBe(0);
    expect(seen.regions).toHaveLength(4096);
    expect(seen.regionsRefused).toBe(1_000_000 - 4095);
    expect(counts(seen)).toMatchObject({ 'name 5': 2, '(overflow)': seen.regionsRefused });
    expect(seen.unplaced).toBe(0);
  });

  it('that are long fill the room for names, and the rest is counted', async () => {
    const { seen } = await inNode(`
      for (let k = 0; k < 200; k++) region('n' + k + 'x'.repeat(10_000)).run(() => {});
      region('short').run(() => {});
    `);
    expect(seen.regions.length).toBeGreaterThan(90);
    expect(counts(seen)['(overflow)']).toBe(seen.regionsRefused);
    expect(counts(seen).short).toBe(1);
  });
});

describe('epochs and progress', () => {
  it('are counted, with the times of the first and the last', async () => {
    const { page } = await inNode(`
      for (let k = 0; k < 4; k++) { epoch(); await new Promise((resolve) => setTimeout(resolve, 5)); }
    `);
    expect(page.epochs).toBe(4);
    expect(page.lastEpoch - page.firstEpoch).toBeGreaterThan(0.01);
    expect(page.stopped).toBeGreaterThan(page.lastEpoch);
  });

  it('end with shutdown(): what is marked later is no part of the application', async () => {
    const { seen, page } = await inNode(`
      const [before, open] = [region('before'), region('open')];
      before.enter(); before.exit(); epoch(); open.enter();
      shutdown();
      open.exit(); before.enter(); before.exit(); epoch(); region('after').run(() => {});
      await region('later').run(async () => {});
      shutdown();
    `);
    expect(counts(seen)).toMatchObject({ before: 1, open: 0 });
    expect(page.epochs).toBe(1);
    expect(page.stopped).toBeGreaterThanOrEqual(page.lastEpoch);
  });

  it('progress is that of the region the thread is in', async () => {
    const pages = freshFolder();
    const child = start(
      [
        process.execPath,
        program(`
        const r = region('r'); r.enter(); tprofInit(1); tprofInit(10);
        for (let k = 0; k < 4; k++) tprofPost();
        console.log('there');
        process.stdin.once('data', () => { r.exit(); process.exit(3); });
      `),
      ],
      pages,
    );
    const end = ended(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const [page] = readers(pages);
    page.poll();
    expect([page.workTotal[0], page.workDone[0]]).toEqual([10, 4]);
    child.stdin?.write('\n');
    expect((await end).code).toBe(3);
    page.poll();
    expect(page.works[0]).toBe(0);
    expect(page.stopped).not.toBeNull();
  });
});

describe('threads and processes', () => {
  it('worker threads have slots of their own on the page of the process', async () => {
    const { seen } = await inNode(`
      import { Worker, isMainThread } from 'node:worker_threads';
      const r = region('shared', isMainThread ? 'compute' : 'io');
      for (let k = 0; k < 1000; k++) { r.enter(); r.exit(); }
      region(isMainThread ? 'main' : 'worker').run(() => {});
      if (isMainThread) for (let k = 0; k < 4; k++) new Worker(new URL(import.meta.url));
    `);
    // A worker that ended leaves its slot to the next.
    expect(seen.threads.length).toBeLessThanOrEqual(5);
    expect(seen.threads.length).toBeGreaterThan(1);
    expect(counts(seen)).toEqual({ shared: 5000, main: 1, worker: 4 });
    expect(
      seen.regions.filter(({ name }) => name === 'shared').every((r) => r.hint === 'compute'),
    ).toBe(true);
  });

  it('slots of threads that ended, in good order or not, are taken over when none is left', async () => {
    const { seen } = await inNode(`
      import { openSync, readdirSync, writeSync } from 'node:fs';
      import { Worker, isMainThread, parentPort } from 'node:worker_threads';
      const r = region('r');
      r.enter();
      if (isMainThread) {
        // As if 16,380 threads had come and gone without a mark, in slots that are not free.
        const dir = process.env.TRISCOPE_REGION_DIR;
        const file = openSync(dir + '/' + readdirSync(dir)[0], 'r+');
        const put = (at, value) => writeSync(file, Uint32Array.of(value), 0, 4, at);
        put(76, 16_381);
        for (let slot = 1; slot < 16_381; slot++) put(4096 + slot * 128 + 4, 1);
        for (let k = 0; k < 10; k++) {
          await new Promise((resolve) => {
            const worker = new Worker(new URL(import.meta.url));
            worker.once('message', () => k % 2 ? worker.terminate() : 0);
            worker.once('exit', resolve);
          });
        }
        r.exit();
      } else {
        r.exit();
        r.enter();
        parentPort.postMessage('in');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    `);
    expect(seen.threads).toHaveLength(16_384);
    expect(seen.threadsRefused).toBe(0);
    expect(counts(seen)).toEqual({ r: 11 });
  });

  it('child processes have pages of their own', async () => {
    const pages = freshFolder();
    const path = program(`
      import { spawnSync } from 'node:child_process';
      region('r').run(() => { if (process.argv[2] !== '0') spawnSync(process.execPath, [process.argv[1], process.argv[2] - 1]); });
    `);
    await ended(start([process.execPath, path, '3'], pages));
    const all = readers(pages);
    expect(all).toHaveLength(4);
    const pids = all.map(({ pid }) => pid);
    expect(all.filter(({ parentPid }) => pids.includes(parentPid))).toHaveLength(3);
    for (const page of all) expect(counts(page.snapshot())).toEqual({ r: 1 });
  });

  it('what a killed process marked stays, names included', async () => {
    const pages = freshFolder();
    const child = start(
      [
        process.execPath,
        program(`
        region('done', 'io').run(() => {});
        region('open', 'network').enter();
        console.log('there');
        setInterval(() => {}, 1000);
      `),
      ],
      pages,
    );
    const end = ended(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.kill('SIGKILL');
    expect((await end).signal).toBe('SIGKILL');
    const [page] = readers(pages);
    const seen = page.snapshot();
    expect(page.stopped).toBeNull();
    expect(counts(seen)).toEqual({ done: 1, open: 0 });
    expect(seen.nodes[1]).toMatchObject({ inside: 1, async: false });
    expect(seen.nodes[1].entered).toBeGreaterThan(0);
    expect(page.hash[0]).toBe(regionHash('open'));
  });

  it('says what the process is: CPUs, clock, rank, name', async () => {
    const { page } = await inNode('epoch();', { OMPI_COMM_WORLD_RANK: '7' });
    const cpus = execFileSync('nproc', { encoding: 'utf8' }).trim();
    expect(page.cpus).toHaveLength(Number(cpus));
    expect(page.rank).toBe(7);
    expect(page.parentPid).toBe(process.pid);
    expect(page.processName).toMatch(/^program-\d+\.mjs$/);
    const age = Number(process.hrtime.bigint() - page.startNs) / 1e9;
    expect(age).toBeGreaterThan(0);
    expect(Math.abs(Date.now() / 1000 - age - Number(page.startWallNs) / 1e9)).toBeLessThan(1);
  });
});

describe('without TRISCOPE_REGION_DIR', () => {
  it('marks do nothing, and the program runs as ever', async () => {
    const path = program(`
      const r = region('r', 'io');
      r.enter(); r.exit(); r.exit(); epoch(); tprofInit(4); tprofPost(); shutdown();
      console.log(r.attached, r.hint, r.hash, r.run(() => 1), await r.run(async () => 2));
    `);
    const end = await ended(start([process.execPath, path], ''));
    expect(end.stdout.trim()).toBe(`false io ${regionHash('r')} 1 2`);
    expect(end.stderr).toBe('');
  });

  it('a folder that cannot be made gives one warning and no page', async () => {
    const path = program(`region('r').run(() => console.log('ran'));`);
    const end = await ended(start([process.execPath, path], '/proc/nowhere'));
    expect(end.stdout).toBe('ran\n');
    expect(end.stderr).toContain('regions are not kept');
    expect(end.code).toBe(0);
  });
});
