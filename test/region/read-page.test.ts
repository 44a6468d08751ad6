import { execFileSync } from 'node:child_process';
import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PageReader, regionHash } from 'triscope/region';
import { describe, expect, it } from 'vitest';
import { counts, ended, freshFolder, inNode, pathOf, program, readers, start } from './pages.ts';

describe('the ring of events', () => {
  const text = `
    const a = region('a'), b = region('b');
    for (let k = 0; k < 3; k++) { a.enter(); b.enter(); b.exit(); a.exit(); epoch(); }
  `;

  it('is absent unless asked for', async () => {
    const { page } = await inNode(text);
    expect(page.ringCapacity).toBe(0);
    page.events(() => expect.unreachable());
  });

  it('has entries, exits and epochs in order', async () => {
    const { page } = await inNode(text, { TRISCOPE_REGION_RING: '100' });
    expect(page.ringCapacity).toBe(128);
    const rows: string[] = [];
    let last = 0;
    page.events(({ time, code, value, depth }) => {
      expect(time).toBeGreaterThanOrEqual(last);
      last = time;
      const name =
        value === regionHash('a') ? 'a' : value === regionHash('b') ? 'b' : String(value);
      rows.push(`${code} ${name} ${depth}`);
    });
    expect(rows.slice(0, 5)).toEqual(['0 a 1', '0 b 2', '1 b 2', '1 a 1', '2 1 0']);
    expect(rows).toHaveLength(15);
    expect(page.eventsLost).toBe(0);
    page.events(() => expect.unreachable());
  });

  it('counts what was overwritten', async () => {
    const { page } = await inNode(
      `const r = region('r'); for (let k = 0; k < 500; k++) { r.enter(); r.exit(); }`,
      { TRISCOPE_REGION_RING: '16' },
    );
    let events = 0;
    page.events(() => events++);
    expect(events + page.eventsLost).toBe(1000);
    expect(events).toBe(15);
  });
});

describe('reading', () => {
  it('never sees half of a change while the program marks as fast as it can', async () => {
    const pages = freshFolder();
    const child = start(
      [
        process.execPath,
        program(`
        const a = region('a', 'compute'), b = region('b', 'network');
        console.log('there');
        for (;;) { a.enter(); b.enter(); b.exit(); a.exit(); }
      `),
      ],
      pages,
    );
    const end = ended(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    const [page] = readers(pages);
    const a = regionHash('a');
    let polls = 0;
    let whole = 0;
    let last = 0;
    const expected = new Map([
      [0, [0, 0]],
      [1, [a, 2]],
      [2, [a, 4]],
    ]);
    // Where one CPU has to do for both, few snapshots find the program between two marks.
    for (const until = performance.now() + 20_000; performance.now() < until; ) {
      if (polls > 20_000 && whole >= 5) break;
      page.poll();
      if (page.threads > 0) {
        expect([page.hash[0], page.hint[0]]).toEqual(expected.get(page.depth[0]));
      }
      if (polls++ % 100 > 0) continue;
      const seen = page.snapshot();
      for (const node of seen.nodes) expect(node.inside).toBeLessThanOrEqual(1);
      const [top, below] = seen.nodes;
      if (below === undefined || !seen.whole) continue;
      whole++;
      expect(below.count - top.count === 0 || below.count - top.count === 1).toBe(true);
      expect(top.count).toBeGreaterThanOrEqual(last);
      last = top.count;
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGKILL');
    await end;
    expect(polls).toBeGreaterThan(100);
    expect(whole).toBeGreaterThan(0);
  });

  it('of a page that is cut short keeps what was read before', async () => {
    const { page } = await inNode("region('r').run(() => {});");
    truncateSync(page.path, 4096);
    expect(counts(page.snapshot())).toEqual({ r: 1 });
    expect(page.cut).toBe(true);
    page.poll();
    expect(page.hash[0]).toBe(0);
  });

  it('says of another file what is wrong with it, and where', async () => {
    const folder = freshFolder();
    const { page } = await inNode('epoch();');
    const bad = (name: string, write: (path: string) => void) => {
      const path = join(folder, name);
      write(path);
      expect(() => new PageReader(path)).toThrow(path);
      return expect(() => new PageReader(path));
    };
    bad('pipe', (path) => execFileSync('mkfifo', [path])).toThrow('it is a pipe, not a file');
    bad('short', (path) => writeFileSync(path, 'x')).toThrow('byte 1: it ends within the header');
    bad('text', (path) => writeFileSync(path, 'x'.repeat(5000))).toThrow("byte 0: no 'TRGN' mark");
    const head = Buffer.alloc(4096);
    const fd = openSync(page.path, 'r');
    readSync(fd, head);
    closeSync(fd);
    const { size } = statSync(page.path);
    const patched = (at: number, value: number) => (path: string) => {
      const bytes = Buffer.from(head);
      bytes.writeUInt32LE(value, at);
      writeFileSync(path, bytes);
      // The rest, a gigabyte, is a hole.
      truncateSync(path, size);
    };
    bad('version', patched(4, 9)).toThrow('byte 4: page version 9; this triscope reads 2');
    bad('nodes', patched(68, 0xfffffff8)).toThrow('byte 68: a part outside the file');
    bad('bytes', patched(32, 0xfffffff8)).toThrow('byte 32: 4294967288 bytes announced');
    expect(() => new PageReader(join(folder, 'absent'))).toThrow('ENOENT');
  });

  it('may be closed twice, and leaves nothing beside the page', async () => {
    const { page, seen } = await inNode(`region('r').run(() => {});`);
    expect(pathOf(seen, seen.nodes[0])).toBe('r');
    page.close();
    page.close();
    expect(readdirSync(join(page.path, '..'))).toEqual([page.path.split('/').at(-1)]);
  });
});
