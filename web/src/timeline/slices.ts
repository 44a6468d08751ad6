/** Rows of slices: what each PE, thread, process, job … did when. Made from bins, so that they are dense at every zoom. Pure. */
import type { SingleRollback } from '../../../src/view/simulation/rollback-view.ts';
import { counted, percent, short } from '../figures.ts';
import type { Lane, Slice } from '../regions/lane.ts';

/** Kinds of rows, in the order in which they are shown. */
export const KINDS = [
  { id: 'flags', title: 'Marks' },
  { id: 'jobs', title: 'Jobs' },
  { id: 'gvt', title: 'GVT' },
  { id: 'pes', title: 'PEs' },
  { id: 'rollbacks', title: 'Rollbacks' },
  { id: 'regions', title: 'Regions' },
  { id: 'threads', title: 'Threads' },
] as const;
export type LaneKind = (typeof KINDS)[number]['id'];

export interface TimelineSlice extends Slice {
  readonly name: string;
  /** Further text. */
  readonly text: string;
}

export interface TimelineRow extends Lane {
  /** Without commas, because it is in the address. */
  readonly id: string;
  readonly kind: LaneKind;
  readonly spans: readonly TimelineSlice[];
  /** PE to which it belongs. */
  readonly pe?: number;
}

/** Colours by the numbers of slices: properties of the style sheet. */
export const SHADES: readonly string[] = [
  ...Array.from({ length: 8 }, (_, k) => `--c${k}`),
  ...['--line', '--accent', '--quiet', '--warn'],
];
export const [PALE, NOTED, MARKED, WARNED] = [8, 9, 10, 11];

/** Seconds that bins cover. */
export interface BinnedSpan {
  readonly from: number;
  readonly to: number;
}

interface Part {
  readonly label: string;
  readonly shade: number;
  /** Percentages by bin. */
  readonly values: ArrayLike<number>;
}

const TELL = 3;
/** Least percentage that is shown. */
const LITTLE = 0.5;

/**
 * Stretches by the activity that took most of them; bins of one sample are one. What the parts leave is `rest`.
 * If parts are estimates, they may sum to more than there was: then they are shares of their sum.
 */
export function shareSlices(
  parts: readonly Part[],
  rest: string,
  { from, to }: BinnedSpan,
): TimelineSlice[] {
  const bins = parts[0]?.values.length ?? 0;
  const width = (to - from) / bins;
  const slices: TimelineSlice[] = [];
  let open: { begin: number; values: readonly number[] } | null = null;
  const end = (bin: number) => {
    if (open === null) return;
    const sum = open.values.reduce((all, value) => all + value, 0);
    const whole = Math.max(100, sum);
    const all = [
      ...parts.map(({ label, shade }, k) => ({ label, shade, share: open?.values[k] ?? 0 })),
      { label: rest, shade: PALE, share: whole - sum },
    ].sort((a, b) => b.share - a.share);
    const [first] = all;
    const told = all.filter(({ share }) => (100 * share) / whole >= LITTLE).slice(0, TELL);
    slices.push({
      from: from + open.begin * width,
      to: from + bin * width,
      hash: first.shade,
      name: first.label,
      share: first.share / whole,
      text: told.map(({ label, share }) => `${label} ${percent((100 * share) / whole)}`).join(', '),
    });
    open = null;
  };
  for (let bin = 0; bin < bins; bin++) {
    const values = parts.map((part) => part.values[bin]);
    if (values.every(Number.isNaN)) {
      end(bin);
      continue;
    }
    const known = values.map((value) => value || 0);
    if (open?.values.every((value, k) => value === known[k])) continue;
    end(bin);
    open = { begin: bin, values: known };
  }
  end(bins);
  return slices;
}

/**
 * GVT computations. Bins hold the least and greatest number in their samples; a sample is taken at the
 * end of its stretch, which covers all since the one before. `isIndex`: numbers count them; otherwise they are GVT itself.
 */
export function roundSlices(
  least: ArrayLike<number>,
  most: ArrayLike<number>,
  isIndex: boolean,
  { from, to }: BinnedSpan,
): TimelineSlice[] {
  const width = (to - from) / most.length;
  const runs: { begin: number; end: number; value: number }[] = [];
  for (let bin = 0; bin < most.length; bin++) {
    const value = most[bin];
    if (Number.isNaN(value)) continue;
    const last = runs.at(-1);
    // A bin with several computations is a slice of its own, unless it is where the next begins.
    if (last !== undefined && last.value === value && last.end === bin && least[bin] === value)
      last.end = bin + 1;
    else runs.push({ begin: bin, end: bin + 1, value });
  }
  return runs.map(({ begin, end, value }, k) => {
    const before = runs[k - 1]?.value ?? Number.NaN;
    const count = isIndex && value - before > 1 ? value - before : 1;
    const name =
      count > 1
        ? `GVT ${before + 1} to ${value}`
        : isIndex
          ? `GVT ${value}`
          : `GVT ${short(value)}`;
    const text = !isIndex
      ? `global virtual time ${short(value)}`
      : count > 1
        ? counted(count, 'GVT computation')
        : '';
    return {
      ...{ from: from + begin * width, to: from + end * width, name, text },
      ...{ hash: k % 2 === 0 ? 4 : 3, share: count > 1 ? 0.4 : 0.8 },
    };
  });
}

const single = ({ kp, undone, depth, cause, sourcePe, sourceLp }: SingleRollback): string => {
  const far = depth === null ? '' : `, ${short(depth)} of virtual time back`;
  const by = sourceLp >= 0 ? ` from LP ${sourceLp} (PE ${sourcePe})` : '';
  return `KP ${kp}: ${counted(undone, 'event')} undone${far}${cause === '' ? '' : `, by a ${cause}${by}`}`;
};

/** Rollbacks; those of one bin are one slice, whose colour is stronger the more they undid. */
export function rollbackSlices(
  rollbacks: readonly SingleRollback[],
  bins: number,
  { from, to }: BinnedSpan,
): TimelineSlice[] {
  const width = (to - from) / bins;
  const places = new Map<number, SingleRollback[]>();
  for (const one of rollbacks) {
    const bin = Math.floor((one.t - from) / width);
    const there = places.get(bin);
    if (there === undefined) places.set(bin, [one]);
    else there.push(one);
  }
  const undoneBy = (some: readonly SingleRollback[]) =>
    some.reduce((sum, { undone }) => sum + undone, 0);
  const most = Math.max(1, ...[...places.values()].map(undoneBy));
  return [...places].map(([, some]) => {
    const undone = undoneBy(some);
    const [first] = some;
    return {
      ...{ from: first.t, to: (some.at(-1) ?? first).t + width, hash: 1 },
      name: some.length === 1 ? 'rollback' : counted(some.length, 'rollback'),
      share: Math.sqrt(undone / most),
      text: some.length === 1 ? single(first) : `${counted(undone, 'event')} undone`,
    };
  });
}

/** Overlapping slices go into separate rows, as few as are needed, at most `most`; the rest is left out. */
export function packed(
  slices: readonly TimelineSlice[],
  most: number,
): readonly (readonly TimelineSlice[])[] {
  const rows: TimelineSlice[][] = [];
  for (const slice of slices.toSorted((a, b) => a.from - b.from)) {
    const free = rows.find((row) => (row.at(-1)?.to ?? 0) <= slice.from);
    if (free !== undefined) free.push(slice);
    else if (rows.length < most) rows.push([slice]);
  }
  return rows;
}
