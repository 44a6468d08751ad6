/** Where LPs live: PE of each, index on its PE, KP there. As ROSS: linear, round robin or custom. */
import { type CustomMapping, type Model, ModelError } from './model.ts';
import { DeclarationError } from './model-error.ts';

export interface Placement {
  readonly lps: number;
  readonly pes: number;
  /** LPs per PE. */
  readonly counts: readonly number[];
  /** Linear placement only: the first LP of each PE, which holds consecutive ids. */
  readonly firsts: readonly number[] | null;
  /** Other placements: PE and index of each LP, shared between threads. */
  readonly peOf: Int32Array | null;
  readonly indexOf: Int32Array | null;
}

/**
 * Places `lps` LPs on `pes` PEs.
 * @throws ModelError if a custom mapping names a PE that does not exist
 */
export function placeLps(model: Model, lps: number, pes: number): Placement {
  if (model.map === 'linear') {
    const firsts = Array.from({ length: pes }, (_, pe) => Math.floor((pe * lps) / pes));
    const counts = firsts.map((first, pe) => (firsts[pe + 1] ?? lps) - first);
    return { lps, pes, counts, firsts, peOf: null, indexOf: null };
  }
  const custom: CustomMapping =
    model.map === 'round-robin' ? { pe: (lp, _lps, n) => lp % n } : model.map;
  const peOf = new Int32Array(new SharedArrayBuffer(4 * lps));
  const indexOf = new Int32Array(new SharedArrayBuffer(4 * lps));
  const counts = new Array<number>(pes).fill(0);
  for (let lp = 0; lp < lps; lp++) {
    const pe = custom.pe(lp, lps, pes);
    if (!Number.isInteger(pe) || pe < 0 || pe >= pes) {
      throw new DeclarationError(
        `model '${model.name}': map.pe(${lp}) gave ${pe}; PEs are 0…${pes - 1}`,
        ['map', 'pe'],
      );
    }
    peOf[lp] = pe;
    indexOf[lp] = counts[pe]++;
  }
  return { lps, pes, counts, firsts: null, peOf, indexOf };
}

/** PE of LP `lp`. */
export function peOfLp(p: Placement, lp: number): number {
  if (p.peOf !== null) return p.peOf[lp];
  const firsts = p.firsts ?? [0];
  let pe = Math.min(p.pes - 1, Math.floor((lp * p.pes) / p.lps));
  while (lp < firsts[pe]) pe--;
  while (pe + 1 < p.pes && lp >= firsts[pe + 1]) pe++;
  return pe;
}

/** Index of LP `lp` on PE `pe`, which holds it. */
export function indexOfLp(p: Placement, lp: number, pe: number): number {
  return p.indexOf !== null ? p.indexOf[lp] : lp - (p.firsts?.[pe] ?? 0);
}

/** The LPs of all PEs, by index, in one pass: a call per PE would look at every LP each time. */
export function lpsOfPes(p: Placement): Int32Array[] {
  const { peOf, indexOf } = p;
  if (peOf === null || indexOf === null) return p.counts.map((_, pe) => lpsOfPe(p, pe));
  const ids = p.counts.map((count) => new Int32Array(count));
  for (let lp = 0; lp < p.lps; lp++) ids[peOf[lp]][indexOf[lp]] = lp;
  return ids;
}

/** The LPs of one PE, by index. */
export function lpsOfPe(p: Placement, pe: number): Int32Array {
  const ids = new Int32Array(p.counts[pe]);
  if (p.firsts !== null) {
    for (let k = 0; k < ids.length; k++) ids[k] = p.firsts[pe] + k;
  } else {
    for (let lp = 0; lp < p.lps; lp++) {
      if (p.peOf?.[lp] === pe) ids[p.indexOf?.[lp] ?? 0] = lp;
    }
  }
  return ids;
}

/** KP of each LP of one PE: linear blocks of ceil(LPs / KPs), round robin, or the model's own. */
export function kpsOfPe(model: Model, ids: Int32Array, kps: number): Int32Array {
  const block = Math.max(1, Math.ceil(ids.length / kps));
  const map = model.map;
  const pick =
    typeof map === 'object' && map.kp !== undefined
      ? (lp: number, index: number) => map.kp?.(lp, index, kps) ?? 0
      : map === 'round-robin'
        ? (_lp: number, index: number) => index % kps
        : (_lp: number, index: number) => Math.floor(index / block);
  return ids.map((lp, index) => {
    const kp = pick(lp, index);
    if (!Number.isInteger(kp) || kp < 0 || kp >= kps) {
      throw new ModelError(`model '${model.name}': map.kp(${lp}) gave ${kp}; KPs are 0…${kps - 1}`);
    }
    return kp;
  });
}
