/** `triscope diff A B` of recordings: numbers with bounds, what came and went, and runs of other shapes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { selected } from '../../src/cli/diff-text.ts';
import { ROSS_LP, ROSS_PE } from '../../src/model/schemas/ross.ts';
import type { Change } from '../../src/report/compare/index.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();

interface Made {
  readonly pes?: number;
  readonly host?: string;
  /** Events that each PE handles in each of 40 seconds, on average; every second one more or less by `wavers`. */
  readonly events: number;
  readonly wavers?: number;
  readonly undone?: number;
  /** Hundredths of a second that CPU 0 is busy, a second. */
  readonly user?: number;
  /** Seconds of each second that a PE spends in event handlers (0: not recorded). */
  readonly busy?: (pe: number, second: number) => number;
  readonly command?: readonly string[];
}

/** A run of 40 s. */
function recording(name: string, made: Made): string {
  const {
    pes = 2,
    host = 'h1',
    events,
    wavers = 0,
    undone = 0,
    user = 50,
    busy,
    command = [],
  } = made;
  const seconds = Array.from({ length: 40 }, (_, k) => k + 1);
  const numbers = Array.from({ length: pes }, (_, pe) => pe);
  // Twos of seconds, as a stretch of a run holds two samples.
  const waver = (second: number) => (((second - 1) >> 1) % 2 === 0 ? wavers : -wavers);
  const samples = batchOf(
    ROSS_PE,
    seconds.flatMap((second) =>
      numbers.map((pe_id) => ({
        ...{ pe_id, real_time: second, mode: 'gvt', gvt: second, num_gvts: second },
        events_processed: events + waver(second),
        events_rolled_back: undone,
        ...(busy !== undefined && { events_processed_time: busy(pe_id, second) }),
      })),
    ),
  );
  const lps = batchOf(
    ROSS_LP,
    seconds.flatMap((second) =>
      [0, 1].map((lp_id) => ({
        ...{ lp_id, real_time: second, mode: 'gvt' },
        events_processed: (events + waver(second)) * (lp_id + 1),
        events_rolled_back: 0,
      })),
    ),
  );
  return writeFolder(join(folder, name), {
    'recording.json': recordingOf({
      madeBy: { command: ['triscope', 'sim', ...command], triscope: '0.1.0', node: '20' },
      pes: numbers.map((pe) => placeOf({ pe, host })),
    }),
    'extra.frames': framesOf(samples, lps),
    [`node/${host}/1`]: rawStats(
      host,
      seconds.map((s) => ({ time: NOON + s, cpus: [{ user: user * s, idle: (100 - user) * s }] })),
    ),
  });
}

const base = recording('a.tri', { events: 1000, wavers: 100, undone: 10, command: ['--batch=16'] });
const slower = recording('b.tri', { events: 800, wavers: 100, undone: 400, user: 80 });
const near = recording('near.tri', { events: 1010, wavers: 100, undone: 10 });

interface Printed {
  readonly hosts: readonly { readonly a: string; readonly b: string }[];
  readonly settings: readonly object[];
  readonly unlike: readonly string[];
  readonly notes: readonly string[];
  readonly facts: readonly { key: string; unit: string; a: unknown; b: unknown }[];
  readonly findings: readonly { readonly rule: string; readonly what: string }[];
  readonly values: readonly {
    readonly scope: string;
    readonly host: string | null;
    readonly entity: string;
    readonly key: string;
    readonly unit: string;
    readonly a: { value: number; error: number | null; runs: number[] } | null;
    readonly b: { value: number; error: number | null; runs: number[] } | null;
    readonly detectable: number | null;
    readonly change: number | null;
    readonly bound: number | null;
    readonly verdict: string;
    readonly good: string | null;
    readonly judgement: string | null;
  }[];
}

const json = async (...args: string[]): Promise<Printed> => {
  const { out, code } = await triscopeHere(['diff', '--all', '--json', ...args]);
  expect(code).toBe(0);
  return JSON.parse(out);
};

const value = ({ values }: Printed, scope: string, entity: string, key: string, unit = '') =>
  values.find(
    (one) =>
      [one.scope, one.entity, one.key].join() === [scope, entity, key].join() &&
      one.unit.startsWith(unit),
  );

describe('triscope diff of two recordings', () => {
  let found: Printed;
  /** Of two that are alike, with little memory. */
  let close: Printed;
  beforeAll(async () => {
    found = await json(base, slower);
    close = await json(base, near, '--memory=64MiB');
  });

  it('tells numbers with errors from the samples, and the change with its bound', () => {
    // From the second sample on: 39 s of 2 PEs; the first sample's interval is not known.
    const run = value(found, 'run', '', 'committed events', 'events/s');
    expect(run?.a?.value).toBeCloseTo(2 * (990 - 100 / 39), 6);
    expect(run?.b?.value).toBeCloseTo(2 * (400 - 100 / 39), 6);
    // Twenty stretches of 1100 or 900 a second: each 200 off for two PEs, of 20 blocks: 200 / √19. Of one run: twice that.
    const error = (2 * 200) / Math.sqrt(19);
    expect(Math.abs((run?.a?.error ?? 0) / error - 1)).toBeLessThan(0.03);
    expect(run?.verdict).toBe('changed');
    expect(run?.change).toBeCloseTo(-1180, 0);
    // Twenty degrees of freedom.
    expect(Math.abs((run?.bound ?? 0) / (2.086 * Math.SQRT2 * error) - 1)).toBeLessThan(0.03);
    const undone = value(found, 'run', '', 'rolled back');
    expect([undone?.a?.value, undone?.b?.value]).toEqual([1, 50]);
    expect(value(found, 'pe', 'PE 1', 'events handled')).toMatchObject({
      a: { value: 40_000 },
      b: { value: 32_000 },
    });
    expect(value(found, 'lp', 'LP 1', 'committed events', 'in all')).toMatchObject({
      a: { value: 80_000, error: 0 },
      b: { value: 64_000 },
      verdict: 'changed',
    });
    expect(value(found, 'node', 'cpu', 'user')).toMatchObject({
      host: 'h1',
      unit: 'CPUs',
      a: { value: 0.5 },
      b: { value: expect.closeTo(0.8, 9) },
      verdict: 'changed',
    });
  });

  it('names findings gained', () => {
    expect(found.findings).toContainEqual(
      expect.objectContaining({ rule: 'efficiency', what: 'gained', a: null }),
    );
  });

  it('says what is within noise, and what is the same', async () => {
    expect(value(close, 'run', '', 'committed events', 'events/s')?.verdict).toBe('noise');
    expect(value(close, 'node', 'cpu', 'user')?.verdict).toBe('same');
    const { out, code } = await triscopeHere(['diff', base, base, '--exit-code']);
    expect(code).toBe(0);
    expect(out).toMatch(/^All PEs\n {2}\d+ the same$/m);
    expect(out).not.toMatch(/within noise|only in/);
  });

  it('prints tables, and only what differs', async () => {
    const { out, code } = await triscope(['diff', base, slower, '--exit-code'], {
      env: { COLUMNS: '100' },
    });
    expect(code).toBe(1);
    expect(out).not.toContain('\u001b');
    expect(out).toMatch(/^Settings\n +A +B\n +option: --batch +16 +-$/m);
    expect(out.indexOf('Settings')).toBeLessThan(out.indexOf('All PEs'));
    expect(out).toMatch(/gained: efficiency \(problem\)\n {4}\S/);
    expect(out).toMatch(/^All PEs\n +A +B +change +± 95 %/m);
    expect(out).toMatch(/committed events, events\/s +1975 +794\.9 +-59\.8 % +\d/);
    expect(out).toMatch(/rolled back, % +1 +50 +\+49 pt/);
    expect(out).toMatch(/h1 cpu: user, CPUs +0\.5 +0\.8 +\+60 %/);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it('--least leaves out small changes', () => {
    const changes = found.values as unknown as readonly Change[];
    const keys = selected(changes, { all: false, least: 0.7 }).map(({ key }) => key);
    expect(keys).toContain('events rolled back');
    expect(keys).not.toContain('events handled');
  });

  it('of other hosts pairs them, and of other numbers of PEs compares a PE on average', async () => {
    const other = recording('other.tri', {
      pes: 3,
      host: 'h9',
      events: 1000,
      wavers: 100,
      undone: 10,
    });
    const others = await json(base, other);
    expect(others.hosts).toEqual([{ a: 'h1', b: 'h9' }]);
    expect(value(others, 'node', 'cpu', 'user')).toMatchObject({ host: 'h1', verdict: 'same' });
    expect(others.notes.join()).toContain('not compared one by one: their numbers differ');
    expect(others.facts).toContainEqual({ key: 'PEs', unit: '', a: 2, b: 3 });
    expect(value(others, 'pe', 'PE 0', 'events handled')).toBeUndefined();
    expect(value(others, 'pe', 'a PE on average', 'committed events', 'events/s')?.verdict).toBe(
      'same',
    );
    const run = value(others, 'run', '', 'committed events', 'events/s');
    expect([run?.verdict, Math.round(run?.change ?? 0)]).toEqual(['changed', 987]);
  });

  it('of traces of regions tells how long visits took', async () => {
    const trace = (name: string, length: number) => {
      const rows = Array.from({ length: 10 }, (_, k) => [
        `${k + 0.1}|7|REGION_ENTRY|0x00000001`,
        `${k + 0.1 + length + 0.001 * (k % 2)}|7|REGION_EXIT|0x00000001`,
      ]);
      const head = [
        'geopm_version: 3.1.0',
        'start_time: now',
        'profile_name: p',
        'node_name: h1',
        'agent: monitor',
      ];
      const lines = [...head.map((one) => `# ${one}`), 'TIME|PROCESS|EVENT|SIGNAL', ...rows.flat()];
      const path = join(folder, name);
      writeFileSync(path, `${lines.join('\n')}\n`);
      return path;
    };
    const visits = await json(trace('visits-a', 0.2), trace('visits-b', 0.3));
    const visit = value(visits, 'region', '0x00000001', 'time of a visit');
    expect(visit?.a?.value).toBeCloseTo(0.2005, 9);
    expect(visit?.change).toBeCloseTo(0.1, 9);
    expect(visit?.verdict).toBe('changed');
  });

  it('tells first why the time differs: of PEs, with what adds up', async () => {
    // 40 GVTs a run, each a second apart in A; in B PE 1 needs 1.5 s for each from the 20th on.
    const late = (second: number) => Math.max(0, second - 20) / 2;
    const [a, b] = (['even', 'late'] as const).map((name) => {
      const path = join(folder, `${name}.tri`);
      const samples = batchOf(
        ROSS_PE,
        Array.from({ length: 40 }, (_, k) => k + 1).flatMap((gvt) =>
          [0, 1].map((pe_id) => {
            const step = name === 'late' && gvt > 20 ? 1.5 : 1;
            return {
              ...{ pe_id, mode: 'gvt', gvt, num_gvts: gvt, events_processed: 10 },
              real_time: gvt + (name === 'late' ? late(gvt) : 0),
              events_processed_time: pe_id === 1 ? step : 0.75,
              gvt_time: 0.125,
            };
          }),
        ),
      );
      return writeFolder(path, {
        'recording.json': recordingOf(),
        'extra.frames': framesOf(samples),
      });
    });
    const { out } = await triscopeHere(['diff', a, b, '--json']);
    const { explanation } = JSON.parse(out);
    // Of what was before the first sample nothing is known: 39 s and 49 s.
    expect(explanation).toMatchObject({ a: 39, b: 49, difference: 10, lane: 'PE 1', begin: 1 });
    expect(explanation.causes).toEqual([
      { what: 'event handlers', a: 39, b: 49, difference: 10, from: expect.closeTo(20, 0) },
      { what: 'GVT', a: 4.875, b: 4.875, difference: 0, from: null },
      { what: 'waiting and not timed', a: -4.875, b: -4.875, difference: 0, from: null },
    ]);
    const text = (await triscope(['diff', a, b], { env: { COLUMNS: '100' } })).out;
    expect(text).toMatch(
      /^Where the time went\n {2}B is 10 s slower than A \(49 s instead of 39 s\): 10 s of it in event handlers of PE 1, from (19\.\d|20) s\n {2}on\.\n/m,
    );
    expect(text).toMatch(/^ {2}in all +39 s +49 s +\+10 s *$/m);
    expect(text.indexOf('Where the time went')).toBeLessThan(text.indexOf('All PEs'));
  });

  it('tells why processes took longer by the regions of their traces', async () => {
    // Three visits of region 1 with region 2 inside, of two processes; in B the second's inner visits take 2 s longer.
    const trace = (name: string, longer: number) => {
      const rows = [11, 12].flatMap((process, k) => {
        let time = 0;
        return [0, 1, 2].flatMap((visit) => {
          const event = (what: string, hash: number, after: number) => {
            time += after;
            return `${time}|${process + longer}|REGION_${what}|0x0000000${hash}`;
          };
          const inner = 1 + (k === 1 && visit > 0 ? longer : 0);
          return [
            event('ENTRY', 1, 1),
            event('ENTRY', 2, 0.5),
            event('EXIT', 2, inner),
            event('EXIT', 1, 0.5),
          ];
        });
      });
      const head = [
        'geopm_version: 3.1.0',
        'start_time: now',
        'profile_name: p',
        'node_name: h1',
        'agent: monitor',
      ];
      const path = join(folder, name);
      const lines = [...head.map((one) => `# ${one}`), 'TIME|PROCESS|EVENT|SIGNAL', ...rows];
      writeFileSync(path, `${lines.join('\n')}\n`);
      return path;
    };
    const { out } = await triscopeHere([
      'diff',
      trace('regions-a', 0),
      trace('regions-b', 2),
      '--json',
    ]);
    const { explanation } = JSON.parse(out);
    expect(explanation).toMatchObject({ difference: 4, lane: 'process 2 of 2' });
    expect(explanation.causes).toEqual([
      { what: '0x00000002', a: 3, b: 7, difference: 4, from: expect.any(Number) },
      { what: 'outside of regions', a: 2, b: 2, difference: 0, from: null },
      { what: '0x00000001', a: 3, b: 3, difference: 0, from: null },
    ]);
    expect(explanation.sentence).toContain('4 s of it in 0x00000002 of process 2 of 2');
  });

  it('of several runs of each compares medians, and leaves out what one run of three finds', async () => {
    const runs = [1400, 1000, 1020].map((events, k) =>
      recording(`a${k}.tri`, { events, wavers: 20, undone: k === 0 ? 400 : 10 }),
    );
    const others = [1190, 1200, 1210].map((events, k) =>
      recording(`b${k}.tri`, { events, wavers: 20, undone: 10 }),
    );
    const several = await json(...runs, '--', ...others);
    const run = value(several, 'run', '', 'committed events', 'events/s');
    expect(run?.verdict).toBe('changed');
    expect(run?.a?.runs).toHaveLength(3);
    expect(run?.a?.value).toBe(run?.a?.runs.toSorted((x, y) => x - y)[1]);
    expect(run?.detectable).toBeGreaterThan(0);
    expect(several.findings.filter(({ what }) => what !== 'both')).toEqual([]);
    // Each name once: what the run said of itself at its end is under Run only where samples do not tell it.
    const names = several.facts.map(({ key, unit }) => `${key} ${unit}`);
    const told = several.values.filter(({ scope }) => scope === 'run');
    expect(names.filter((name) => told.some(({ key, unit }) => name === `${key} ${unit}`))).toEqual(
      [],
    );
    expect((await triscopeHere(['diff', base, slower, near])).code).toBe(2);
  });

  it('says how large a change could have been missed', async () => {
    const { out } = await triscope(['diff', base, near, '--all'], { env: { COLUMNS: '200' } });
    expect(out).toMatch(
      /committed events, events\/s +1975 +1995 +\+1\.01 % +\S+ % +within noise; a change of \d\S* % would be seen/,
    );
  });

  it('says of unlike runs that they are, before any number, and judges none', async () => {
    const run = (name: string, model: string, events: number) => {
      const path = recording(name, {
        ...{ events, wavers: 20, undone: 10 },
        command: ['run', model, `--lookahead=${events}`],
      });
      writeFileSync(join(path, 'sim-result.json'), JSON.stringify({ model, end: 40 }));
      return path;
    };
    const paths = [
      run('phold.tri', 'phold', 1000),
      run('torus.tri', 'torus', 100),
      run('again.tri', 'phold', 100),
    ];
    const { out } = await triscope(['diff', paths[0], paths[1]], { env: { COLUMNS: '200' } });
    expect(out.split('\n').slice(3, 6)).toEqual([
      'A and B are unlike: A simulates phold, B torus. The numbers below do not tell which is better.',
      '',
      'Settings',
    ]);
    const unlike = await json(paths[0], paths[1]);
    expect(unlike.settings).toEqual([
      { kind: 'command', key: 'command', a: 'triscope sim run phold', b: 'triscope sim run torus' },
      { kind: 'model', key: 'model', a: 'phold', b: 'torus' },
      { kind: 'option', key: '--lookahead', a: '1000', b: '100' },
    ]);
    expect(unlike.values.filter(({ judgement }) => judgement !== null)).toEqual([]);
    // Of the same model less is worse where its measure says so: 1,000 to 100 events a second.
    const alike = await json(paths[0], paths[2]);
    expect(alike.unlike).toEqual([]);
    expect(value(alike, 'run', '', 'committed events', 'events/s')).toMatchObject({
      ...{ verdict: 'changed', good: 'more', judgement: 'worse' },
    });
    expect(value(alike, 'run', '', 'rolled back', '%')).toMatchObject({
      ...{ verdict: 'changed', good: 'less', judgement: 'worse' },
    });
    expect(value(alike, 'run', '', 'events handled', 'in all')).toMatchObject({
      ...{ verdict: 'changed', good: null, judgement: null },
    });
  });

  it('takes a limit of memory, and refuses one that is no size', async () => {
    expect(close.values).not.toEqual([]);
    const wrong = await triscopeHere(['diff', base, near, '--memory=lots']);
    expect([wrong.code, wrong.err]).toEqual([
      2,
      'triscope: --memory lots: must be a size such as 2GB\n',
    ]);
  });

  it('refuses what has nothing in common', async () => {
    const empty = writeFolder(join(folder, 'empty.tri'), {
      'recording.json': recordingOf({ sources: [] }),
    });
    const none = await triscopeHere(['diff', base, empty]);
    expect([none.code, none.err]).toEqual([
      3,
      `triscope: ${base} and ${empty} have nothing in common to compare\n`,
    ]);
  });
});
