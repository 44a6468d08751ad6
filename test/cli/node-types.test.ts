/** `triscope node types`: what there is, what is not and why, and what it costs. */
import { NODE_TYPES } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { tree } from '../node/types/support.ts';
import { triscope, triscopeHere } from './support/run.ts';

interface Facts {
  readonly name: string;
  readonly schema: string;
  readonly keys: readonly { readonly key: string; readonly help: string }[];
  readonly missing: string | null;
  readonly failed: string | null;
  readonly devices: number;
  readonly microseconds: number | null;
}

const root = tree({
  'proc/stat': 'cpu0 1 2 3 4 5 6 7\ncpu1 1 2 3 4 5 6 7\n',
  'proc/vmstat': 'nonsense 1\n',
});

describe('triscope node types', () => {
  it('lists all types in JSON: here or why not, devices, microseconds', async () => {
    const { code, out, err } = await triscope(['node', 'types', '--root', root, '--json']);
    expect([code, err]).toEqual([0, '']);
    const facts = JSON.parse(out) as Facts[];
    expect(facts.map(({ name }) => name)).toEqual(NODE_TYPES.map(({ name }) => name));
    const of = (name: string) => facts.find((each) => each.name === name);
    expect(of('cpu')).toMatchObject({
      schema:
        '!cpu user,E,U=cs nice,E,U=cs system,E,U=cs idle,E,U=cs iowait,E,U=cs irq,E,U=cs softirq,E,U=cs',
      missing: null,
      failed: null,
      devices: 2,
    });
    expect(of('cpu')?.microseconds).toBeGreaterThan(0);
    expect(of('cpu')?.keys[0]).toMatchObject({ key: 'user', kind: 'event', unit: 'cs', bits: 64 });
    expect(of('mem')).toMatchObject({ devices: 0, microseconds: null });
    expect(of('mem')?.missing).toContain('there is no /sys/devices/system/node');
    expect(of('vm')).toMatchObject({ missing: null, devices: 0 });
    expect(of('vm')?.failed).toContain('proc/vmstat has none of the keys');
  });

  it('prints a table: what is here, what is not', async () => {
    const { out } = await triscopeHere(['node', 'types', '--root', root]);
    const [here, absent] = out.split('\n\n');
    expect(here).toMatch(/^ +type +devices +µs +what\n +cpu +2 +\d+ +scheduler accounting/);
    expect(absent).toMatch(/^ +not here +why\n/);
    expect(absent).toMatch(/\n +vm +\S+\s+has\s+none\s+of\s+the\s+keys\n/);
    // Long reasons go on in lines that begin with more blanks.
    const types = out.split('\n').filter((line) => /^ {2}\S/.test(line));
    expect(types).toHaveLength(NODE_TYPES.length + 2);
    // A path is not broken, however long.
    const lines = out.split('\n').filter((line) => !line.includes(root));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('prints the keys of types that are named', async () => {
    const { out } = await triscopeHere(['node', 'types', 'cpu', 'vfs', '--root', root]);
    expect(out).toContain('cpu: scheduler accounting: time in each state\n');
    expect(out).toMatch(/\n {2}here: 2 devices, \d+ µs\n {2}user +cs +in user mode\n/);
    expect(out).toMatch(
      /\n {2}not here: \/proc\/sys\/fs has no caches\n {2}dentry_use +.*\(gauge\)/,
    );
  });

  it('refuses a type that does not exist', async () => {
    const { code, err } = await triscopeHere(['node', 'types', 'cup']);
    expect(code).toBe(2);
    expect(err).toBe('triscope: there is no type cup; did you mean cpu?\n');
  });
});
