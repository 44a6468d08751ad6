/** `triscope sim verify`: equal runs, and where unequal ones part. */
import { defineModel, loadModel, type RunResult, simulate } from 'triscope/sim';
import { describe, expect, test } from 'vitest';
import type { CommitLog } from '../../src/sim/commit-log.ts';
import { firstDifference } from '../../src/sim/first-difference.ts';
import { LP_STATE, SENDS } from '../../src/sim/layout.ts';
import { BUILT_IN } from '../../src/sim/models/index.ts';
import { configFor } from '../../src/sim/settings.ts';
import { casesFor } from '../../src/sim/verify-cases.ts';
import { fixture, triscopeHere } from './support/run.ts';

const REMEMBERS = [fixture('remembers.ts'), '--end=15'];

test('a sound model: every run is the same', async () => {
  const args = ['sim', 'verify', 'phold', '--nlp=32', '--lookahead=0.1', '--end=10', '--json'];
  const { code, out } = await triscopeHere(args);
  const { model, same, complete, runs } = JSON.parse(out) as {
    model: string;
    same: boolean;
    complete: boolean;
    runs: (RunResult & { name: string; same: boolean })[];
  };
  expect({ code, model, same, complete }).toEqual({
    code: 0,
    model: 'phold',
    same: true,
    complete: true,
  });
  const synchronisers = new Set(runs.map((r) => r.synchroniser));
  expect(synchronisers.size).toBe(6);
  expect(new Set(runs.map((r) => r.pes))).toEqual(new Set([1, 2, 4]));
  expect(new Set(runs.map((r) => r.eventDigest)).size).toBe(1);
});

test('a model that remembers more than its state: code 1, and which state differs', async () => {
  const { code, out, err } = await triscopeHere(['sim', 'verify', ...REMEMBERS]);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^triscope: handlers write calls \(.*remembers\.ts:4:5\): variables outside of an LP’s state/m,
  );
  expect(out).toMatch(/conservative, 2 PEs .* DIFFERENT\n/);
  expect(out).toMatch(/optimistic-debug .* FAILED\n/);
  expect(out).toMatch(
    /^conservative, 2 PEs: same events; LP 0 \(remembers\): state\.calls is \d+ in sequential and \d+ in conservative, 2 PEs$/m,
  );
  expect(out).toMatch(/remembers: \d+ of 13 runs differ from the sequential one\n$/);
});

test('under chaos: a failure names its seed, which runs it again', async () => {
  const args = ['sim', 'verify', ...REMEMBERS, '--chaos', '--chaos-runs=2'];
  const { code, out } = await triscopeHere(args);
  expect(code).toBe(1);
  const [row, seed] = /^ *(chaos (\d+): .*?) {2}.* DIFFERENT$/m.exec(out)?.slice(1) ?? [];
  expect(out).toContain(`\nchaos ${seed}: repeat with --chaos=${seed}\n`);
  const again = await triscopeHere(['sim', 'verify', ...REMEMBERS, `--chaos=${seed}`]);
  expect(again.code).toBe(1);
  expect(again.out).toContain(`  ${row}  `);
  expect(again.out).toMatch(/remembers: 1 of 2 runs differ from the sequential one\n$/);
});

test.each(Object.keys(BUILT_IN))('%s: rings overflow in its own default run', async (name) => {
  const loaded = await loadModel(name);
  const { lookahead, options } = configFor(loaded.model, {});
  const lps = loaded.model.lps(options, { pes: 1 });
  const crowded = casesFor({}, lookahead, lps).filter((one) => one.name.includes('one slot'));
  expect(crowded.length).toBe(lookahead > 0 ? 2 : 1);
  for (const { settings, chaos } of crowded) {
    // As far as it takes to see it.
    let heldBack = 0;
    for (let part = 320; heldBack === 0 && part >= 20; part /= 4) {
      const end = (loaded.model.end ?? 100_000) / part;
      const options = { ...(chaos && { chaos }), sizedFor: 1 };
      ({ heldBack } = await simulate(loaded, { ...settings, end }, options));
    }
    expect(heldBack, settings.synch).toBeGreaterThan(0);
  }
  loaded.dispose();
});

describe('the first difference', () => {
  const model = defineModel({
    name: 'two',
    lps: () => 2,
    state: { count: 'i32', spare: 'i32' },
    message: {},
    init() {},
    forward() {},
  });

  type Event = readonly [time: number, source: number, destination: number];

  /** Blocks with one double of state. */
  function log(events: readonly Event[], counts: readonly number[], lps = [0, 1]): CommitLog {
    const blockWords = 2 * (LP_STATE + 1);
    const memory = new Int32Array(blockWords * lps.length);
    counts.forEach((count, k) => {
      memory[k * blockWords + 2 * LP_STATE] = count;
    });
    return {
      times: Float64Array.from(events, (e) => e[0]),
      priorities: Float64Array.from(events, () => 1),
      sources: Int32Array.from(events, (e) => e[1]),
      destinations: Int32Array.from(events, (e) => e[2]),
      lps: Int32Array.from(lps),
      types: new Uint8Array(lps.length),
      memory,
      blockWords,
    };
  }
  const between = (a: readonly CommitLog[], b: readonly CommitLog[]) =>
    firstDifference(model, { name: 'a', logs: a }, { name: 'b', logs: b });

  test('none, whatever the order of commits and the placement of LPs', () => {
    const one = log(
      [
        [1, 0, 1],
        [1.5, 1, 0],
        [2, 0, 1],
      ],
      [4, 5],
    );
    const two = [
      log(
        [
          [2, 0, 1],
          [1, 0, 1],
        ],
        [5],
        [1],
      ),
      log([[1.5, 1, 0]], [4], [0]),
    ];
    expect(between([one], two)).toBeNull();
  });

  test('an event that only one has', () => {
    const one = log(
      [
        [1, 0, 1],
        [2, 0, 1],
      ],
      [0, 0],
    );
    const two = log(
      [
        [1, 0, 1],
        [1.5, 1, 0],
        [2, 0, 1],
      ],
      [0, 0],
    );
    const text = 'virtual time 1.5: b commits an event from LP 1 to LP 0, a does not';
    expect(between([one], [two])).toBe(text);
    expect(between([two], [one])).toBe(
      text.replace(/\b[ab]\b(?=( commits| does))/g, (n) => (n === 'a' ? 'b' : 'a')),
    );
  });

  test('an event after the other run’s last', () => {
    const one = log([[1, 0, 1]], [0, 0]);
    const two = log(
      [
        [1, 0, 1],
        [3, 1, 1],
      ],
      [0, 0],
    );
    expect(between([one], [two])).toBe(
      'virtual time 3: b commits an event from LP 1 to LP 1, a does not',
    );
  });

  test('a state, by field', () => {
    const one = log([[1, 0, 1]], [4, 5]);
    const two = log([[1, 0, 1]], [4, 6]);
    expect(between([one], [two])).toBe('same events; LP 1 (two): state.count is 5 in a and 6 in b');
  });

  test('a random stream', () => {
    const one = log([], [0, 0]);
    const two = log([], [0, 0]);
    two.memory[3] = 1;
    expect(between([one], [two])).toBe('same events; LP 0 (two): its random stream differs');
  });

  test('a number of sends', () => {
    const one = log([], [0, 0]);
    const two = log([], [0, 0]);
    two.memory[2 * SENDS] = 1;
    expect(between([one], [two])).toBe('same events; LP 0 (two): its number of sends differs');
  });
});
