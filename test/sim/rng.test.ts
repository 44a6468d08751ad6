import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CORE_SEEDS,
  jump,
  MODEL_SEEDS,
  MODULI,
  MULTIPLIERS,
  next,
  nextAhead,
  previous,
  REVERSE_MULTIPLIERS,
  type Seeds,
  STREAM_MULTIPLIERS,
  seedStream,
  seedStreams,
} from '../../src/sim/rng/clcg4.ts';
import {
  binomial,
  exponential,
  gamma,
  geometric,
  integer,
  type NormalSource,
  normal01,
  pareto,
  poisson,
  weibull,
} from '../../src/sim/rng/distributions.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

/** A stream at index `at` of an array of its own. */
function stream(seeds: Seeds, number: number, at = 0): Float64Array {
  const S = new Float64Array(at + 4);
  seedStream(S, at, seeds, number);
  return S;
}

/** One step of the definition, in big integers and with the conditional corrections spelt out. */
function definition(state: number[]): { state: number[]; u: number } {
  const moved = state.map((x, j) =>
    Number((BigInt(x) * BigInt(MULTIPLIERS[j] as number)) % BigInt(MODULI[j] as number)),
  );
  const [x0, x1, x2, x3] = moved as [number, number, number, number];
  let u = 4.656612875245797e-10 * x0;
  u -= 4.65661310075986e-10 * x1;
  if (u < 0) u += 1;
  u += 4.656613360968421e-10 * x2;
  if (u >= 1) u -= 1;
  u -= 4.656613577808911e-10 * x3;
  if (u < 0) u += 1;
  return { state: moved, u };
}

const seedsOf = fc
  .tuple(...MODULI.map((m) => fc.integer({ min: 1, max: m - 1 })))
  .map((a) => a as unknown as Seeds);

describe('CLCG4', () => {
  it('gives the same numbers where it is kept one step ahead, and takes them back', () => {
    fc.assert(
      fc.property(seedsOf, fc.nat(1000), (seeds, number) => {
        const S = stream(seeds, number, 3);
        const ahead = S.slice();
        next(ahead, 3);
        const start = ahead.slice();
        for (let k = 0; k < 40; k++) expect(nextAhead(ahead, 3)).toBe(next(S, 3));
        const end = ahead.slice();
        previous(end, 3);
        expect(end).toEqual(S);
        for (let k = 0; k < 40; k++) previous(ahead, 3);
        expect(ahead).toEqual(start);
      }),
    );
  });

  it('has the multipliers of the ROSS stream layout', () => {
    expect(REVERSE_MULTIPLIERS).toEqual([1441196816, 1463744518, 499766181, 660421676]);
    expect(STREAM_MULTIPLIERS).toEqual([584425330, 1351201844, 1323813018, 28067816]);
  });

  it('starts stream 0 at the seeds', () => {
    expect([...stream(MODEL_SEEDS, 0)]).toEqual([...MODEL_SEEDS]);
    expect([...stream(CORE_SEEDS, 0)]).toEqual([...CORE_SEEDS]);
  });

  it('draws what the definition draws, bit for bit', () => {
    const S = stream(MODEL_SEEDS, 5);
    let state = [...S];
    for (let i = 0; i < 20000; i++) {
      const step = definition(state);
      state = step.state;
      const u = next(S, 0);
      if (u !== step.u || S.some((x, j) => x !== state[j])) expect([i, u]).toEqual([i, step.u]);
    }
  });

  it('takes draws back exactly, from any state', () => {
    fc.assert(
      fc.property(seedsOf, fc.integer({ min: 1, max: 300 }), (seeds, n) => {
        const S = stream(seeds, 0, 4);
        const draws = Array.from({ length: n }, () => next(S, 4));
        for (let i = 0; i < n; i++) previous(S, 4);
        expect([...S]).toEqual([0, 0, 0, 0, ...seeds]);
        expect(Array.from({ length: n }, () => next(S, 4))).toEqual(draws);
      }),
    );
    const S = stream(CORE_SEEDS, 9);
    const before = [...S];
    for (let i = 0; i < 200000; i++) next(S, 0);
    for (let i = 0; i < 200000; i++) previous(S, 0);
    expect([...S]).toEqual(before);
  });

  it('takes the extreme states back too', () => {
    for (const seeds of [[1, 1, 1, 1] as const, MODULI.map((m) => m - 1) as unknown as Seeds]) {
      const S = stream(seeds, 0);
      previous(S, 0);
      next(S, 0);
      expect([...S]).toEqual([...seeds]);
    }
  });

  it('jumps as far as that many draws go, forwards and backwards', () => {
    fc.assert(
      fc.property(seedsOf, fc.integer({ min: 0, max: 2000 }), (seeds, n) => {
        const S = stream(seeds, 0);
        const T = stream(seeds, 0);
        jump(S, 0, n);
        for (let i = 0; i < n; i++) next(T, 0);
        expect([...S]).toEqual([...T]);
        jump(S, 0, -n);
        expect([...S]).toEqual([...seeds]);
      }),
      { numRuns: 50 },
    );
  });

  it('adds up jumps of any length', () => {
    const far = fc.maxSafeInteger().map((n) => Math.trunc(n / 2));
    fc.assert(
      fc.property(seedsOf, far, far, (seeds, a, b) => {
        const S = stream(seeds, 0);
        const T = stream(seeds, 0);
        jump(S, 0, a);
        jump(S, 0, b);
        jump(T, 0, a + b);
        expect([...S]).toEqual([...T]);
      }),
    );
  });

  it('seeds consecutive streams like single ones, at the given stride', () => {
    const first = 4294967290;
    const S = new Float64Array(2 + 6 * 20);
    seedStreams(S, 2, 6, MODEL_SEEDS, first, 20);
    for (let i = 0; i < 20; i++) {
      const at = 2 + 6 * i;
      expect([...S.subarray(at, at + 4)]).toEqual([...stream(MODEL_SEEDS, first + i)]);
      expect(S[at + 4] ?? 0).toBe(0);
    }
  });

  it('seeds streams at equal distances like single ones', () => {
    const S = new Float64Array(4 * 20);
    seedStreams(S, 0, 4, MODEL_SEEDS, 5, 20, 64);
    for (let i = 0; i < 20; i++) {
      expect([...S.subarray(4 * i, 4 * i + 4)]).toEqual([...stream(MODEL_SEEDS, 5 + 64 * i)]);
    }
  });

  it('places stream i at seed * A^i, also for huge i', () => {
    for (const i of [12345, 4294967301, Number.MAX_SAFE_INTEGER]) {
      const expected = CORE_SEEDS.map((seed, j) => {
        const m = BigInt(MODULI[j] as number);
        let [x, a] = [BigInt(seed), BigInt(STREAM_MULTIPLIERS[j] as number)];
        for (let e = BigInt(i); e > 0n; e >>= 1n, a = (a * a) % m) if (e & 1n) x = (x * a) % m;
        return Number(x);
      });
      expect([...stream(CORE_SEEDS, i)]).toEqual(expected);
    }
  });

  it('never leaves a component at 0, where it would stay', () => {
    const S = new Float64Array(8);
    seedStreams(S, 0, 4, [0, MODULI[1], 3, 4], 0, 2);
    expect([S[0], S[1], S[4], S[5]]).toEqual([1, 1, 1, 1]);
  });

  it('refuses seeds, stream numbers and jumps that are not whole numbers', () => {
    const S = new Float64Array(4);
    expect(() => seedStream(S, 0, [1, 2, 3, -4], 0)).toThrow(RangeError);
    expect(() => seedStream(S, 0, [1, 2, 3.5, 4], 0)).toThrow(/seed/);
    expect(() => seedStream(S, 0, MODEL_SEEDS, -1)).toThrow(/stream number/);
    expect(() => seedStream(S, 0, MODEL_SEEDS, 2 ** 53)).toThrow(/stream number/);
    expect(() => seedStreams(S, 0, 4, MODEL_SEEDS, 0, 2)).toThrow(/too short/);
    expect(() => jump(S, 0, 0.5)).toThrow(RangeError);
  });

  it('is uniform: chi-square over 1000 cells and over pairs', () => {
    const S = stream(MODEL_SEEDS, 3);
    const [cells, pairs] = [new Int32Array(1000), new Int32Array(1600)];
    for (let i = 0; i < 160000; i++) {
      const [a, b] = [next(S, 0), next(S, 0)];
      cells[Math.floor(a * 1000)] = (cells[Math.floor(a * 1000)] as number) + 1;
      const pair = Math.floor(a * 40) * 40 + Math.floor(b * 40);
      pairs[pair] = (pairs[pair] as number) + 1;
    }
    for (const counts of [cells, pairs]) {
      const expected = 160000 / counts.length;
      const chi = counts.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
      // Mean df, standard deviation sqrt(2 df): four deviations.
      const df = counts.length - 1;
      expect(Math.abs(chi - df)).toBeLessThan(4 * Math.sqrt(2 * df));
    }
  });
});

interface Vector {
  stream: number;
  state: number[];
  uniforms: number[];
  state_after_6: number[];
  state_after_6_minus_4: number[];
  [then: `then_${string}`]: number | number[];
}

describe.skipIf(!GOLDEN)('CLCG4 against ROSS (needs TRISCOPE_GOLDEN)', () => {
  const file = GOLDEN ? readFileSync(join(GOLDEN, 'ross', 'rng-vectors.json'), 'utf8') : '{}';
  const golden = JSON.parse(file) as { model: Vector[]; core: Vector[] };
  const cases = [
    ...(golden.model ?? []).map((v) => ({ name: 'model', seeds: MODEL_SEEDS, v })),
    ...(golden.core ?? []).map((v) => ({ name: 'core', seeds: CORE_SEEDS, v })),
  ];

  it('covers 18 streams', () => expect(cases.length).toBe(18));

  for (const { name, seeds, v } of cases) {
    it(`gives the values of ${name} stream ${v.stream}`, () => {
      const S = stream(seeds, v.stream);
      expect([...S]).toEqual(v.state);
      for (const u of v.uniforms) expect(next(S, 0)).toBe(u);
      expect([...S]).toEqual(v.state_after_6);
      for (let i = 0; i < 4; i++) previous(S, 0);
      expect([...S]).toEqual(v.state_after_6_minus_4);

      // The variates follow one another from here, in the order of the file.
      const g = normalSource(S);
      expect(exponential(g, 2.5)).toBe(v['then_exponential_mean_2.5']);
      expect(integer(g, 0, 999)).toBe(v.then_integer_0_999);
      expect(poisson(g, 4)).toBe(v.then_poisson_4);
      expect(geometric(g, 0.25)).toBe(v['then_geometric_0.25']);
      expect(binomial(g, 10, 0.3)).toBe(v['then_binomial_10_0.3']);
      expect(pareto(g, 2, 3)).toBe(v.then_pareto_3_2);
      expect(weibull(g, 2, 1.5)).toBe(v['then_weibull_2_1.5']);
      expect(gamma(g, 2.5, 1.2)).toBe(v['then_gamma_2.5_1.2']);
      expect([normal01(g), normal01(g)]).toEqual(v.then_normal01);
      expect(g.spare()).toBeNaN();
    });
  }
});

function normalSource(S: Float64Array): NormalSource {
  let spare = Number.NaN;
  return {
    uniform: () => next(S, 0),
    spare: () => spare,
    setSpare: (value) => {
      spare = value;
    },
  };
}
