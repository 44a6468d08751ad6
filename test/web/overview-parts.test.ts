/** What the overview works with, without a browser: flags, findings, threads of a command. */
import { describe, expect, it } from 'vitest';
import { flagPlaces, flagWindow } from '../../web/src/flags.ts';
import { findingFlags, highStretch, jumpTo } from '../../web/src/overview/evidence.ts';
import { processNames } from '../../web/src/overview/process-names.ts';
import { labelOf, worthALine } from '../../web/src/overview/threads.ts';
import type { PageSource } from '../../web/src/source.ts';

describe('flags', () => {
  const flag = (from: number, to: number | null, text: string) => ({
    ...{ kind: 'note' as const, from, to, text },
  });

  it('stand where they are seen; those at one place are one', () => {
    const all = [flag(-20, -10, 'before'), flag(-5, 50, 'a'), flag(10, null, 'b')];
    const near = [
      { ...flag(10.4, 12, 'c'), kind: 'mark' as const },
      flag(30, null, 'd'),
      flag(101, null, 'after'),
    ];
    expect(flagPlaces([...all, ...near], (s) => s / 100, 0.01)).toEqual([
      { kind: 'note', at: -0.05, end: 0.5, text: 'a' },
      { kind: 'note', at: 0.1, end: 0.12, text: 'b\nc' },
      { kind: 'note', at: 0.3, end: 0.3, text: 'd' },
    ]);
  });

  it('are shown with what is around them, within the run', () => {
    expect(flagWindow(flag(2, null, ''), [0, 100])).toEqual([0, 7]);
    expect(flagWindow(flag(50, 60, ''), [0, 100])).toEqual([45, 65]);
  });
});

describe('a finding', () => {
  const finding = (rule: string, row: Record<string, number>) => ({
    rule,
    severity: 'notice' as const,
    sentence: '',
    advice: '',
    evidence: { sql: '', rows: [row] },
  });

  it('leads to its view, entity and time', () => {
    const views = ['overview', 'simulation'];
    const jump = jumpTo(finding('efficiency', { pe_id: 3, t0: 1, t: 2 }), [0, 10], views);
    expect(jump?.change).toMatchObject({ view: 'simulation', pe: 3, from: 1, to: 2 });
    expect(jump?.seen).toEqual(['figure-heat']);
    const moment = jumpTo(finding('rollback-chains', { t: 5 }), [0, 10], views);
    expect(moment?.change).toMatchObject({ from: 4.5, to: 5.5 });
    expect(jumpTo(finding('memory-bound', { value: 1 }), [0, 10], views)).toBeNull();
  });

  it('is a flag where its evidence names a time, and not most of the run', () => {
    const rows: readonly Record<string, number>[] = [
      { t0: 1, t: 2 },
      { t: 5 },
      { t0: 0, t: 9 },
      { t: 11 },
      { value: 1 },
    ];
    const flags = findingFlags(
      rows.map((row) => finding('pause', row)),
      [0, 10],
    );
    expect(flags.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['finding', 1, 2],
      ['finding', 5, null],
    ]);
  });

  it('of a whole run leads to the stretch in which it was worst', () => {
    const views = ['overview', 'simulation'];
    const jump = jumpTo(finding('rollback-culprits', { pe_id: 1, undone: 9 }), [0, 10], views);
    expect(jump?.change).toMatchObject({ view: 'simulation', pe: 1 });
    expect(jump?.peak).toEqual({ table: 'ross_pe', key: 'events_rolled_back', of: '1' });
    const values = [1, 2, Number.NaN, 1, 6, 4, 9, 5, 1, 1];
    expect(highStretch(values, [0, 10])).toEqual([3.5, 8.5]);
    expect(highStretch([5, 5, 6, 5, 5], [0, 10])).toBeNull();
    expect(highStretch([0, Number.NaN, 0], [0, 10])).toBeNull();
  });
});

describe('threads of a recorded command', () => {
  it('are drawn if they ran, or if all of many hardly did', () => {
    const of = (...shares: number[]) => shares.map((share) => ({ share }));
    const little = Array(9).fill(0.2);
    expect(worthALine(of(...little, 60, 5))).toEqual(of(60, 5));
    expect(worthALine(of(...little))).toHaveLength(8);
    expect(worthALine(of(0, 90))).toEqual(of(90, 0));
  });

  const place = { pe: 3, rank: 3, host: 'h1', cpu: null, threadId: 9 };
  const host = { platform: 'linux', arch: 'x64', cpus: 2, cpuModel: '', memory: 0 };
  const facts = (...names: readonly string[]) => ({
    facts: {
      ...{ title: '', command: '', state: 'finished' as const, zero: '0', notes: [] },
      ...{ hosts: names.map((name) => ({ ...host, name })), pes: [place] },
    },
  });

  it('are called by PE, rank, name and host, as far as these are known', () => {
    const names = new Map([
      ['h1/7', { name: 'solver', rank: 1 }],
      ['h1/8', { name: 'mpirun', rank: null }],
    ]);
    const labels = (...hosts: readonly string[]) =>
      ['h1/9/9', 'h1/7/7', 'h1/7/71', 'h1/8/8', 'h1/6/6', 'h1/6/61'].map((entity) =>
        labelOf(entity, facts(...hosts), names),
      );
    expect(labels('h1')).toEqual([
      'PE 3',
      'rank 1, solver',
      'thread 71 of rank 1, solver',
      'mpirun 8',
      'process 6',
      'thread 61 of process 6',
    ]);
    expect(labels('h1', 'h2')[1]).toBe('rank 1, solver on h1');
  });

  it('have names that are asked for once, again for new processes, and not where nobody answers', async () => {
    const answers = [[['h1/7', 'solver', 1]], [['h1/8', 'other', null]]];
    let asked = 0;
    const query = async () => ({ columns: [], rows: answers[asked++] ?? [], more: false });
    const source = { query } as unknown as PageSource;
    expect([...(await processNames(source, ['h1/7']))]).toEqual([
      ['h1/7', { name: 'solver', rank: 1 }],
    ]);
    await processNames(source, ['h1/7']);
    expect(asked).toBe(1);
    expect((await processNames(source, ['h1/8'])).get('h1/8')?.rank).toBeNull();
    await processNames(source, ['h1/8', 'h1/7']);
    expect(asked).toBe(2);
    const saved = { query: () => Promise.reject(new Error()) } as unknown as PageSource;
    expect((await processNames(saved, ['h1/7'])).size).toBe(0);
  });
});
