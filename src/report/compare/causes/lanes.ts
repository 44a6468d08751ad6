/**
 * What lanes (PEs, processes) spent their time on, added up along the run. Of each lane a few hundred moments are kept:
 * enough to tell when a difference began, and little enough for thousands of lanes.
 */

/** Something that time is spent on. Those of a lane do not overlap. */
export interface TimePart {
  readonly key: string;
  readonly label: string;
  /** Whether a lane that spends time on it waits for others, and does nothing itself. */
  readonly isWait: boolean;
}

/** A lane's sums at some moments. The last moment is its end. */
export interface LaneCourse {
  /** Seconds of the timeline. */
  readonly times: readonly number[];
  /** How far the work was, which never falls: see `Times.progress`. All 0 where that is not known. */
  readonly progress: readonly number[];
  /** By part: seconds from the lane's begin on. */
  readonly spent: readonly (readonly number[])[];
}

export interface LaneTimes {
  readonly name: string;
  /** Seconds from its begin to its end. They are the sum of its parts. */
  readonly seconds: number;
  readonly course: LaneCourse;
}

/** What one run's time was spent on. */
export interface Times {
  readonly kind: 'PE' | 'process';
  /** What moments of two runs are matched by: the same progress is the same work. */
  readonly progress: 'virtual time' | 'visits of regions';
  readonly parts: readonly TimePart[];
  readonly lanes: readonly LaneTimes[];
  /** Seconds that the run took: from the first lane's begin to the last lane's end. */
  readonly wall: number;
}

/** Moments that are kept of a lane, at most. */
const MOST = 400;

/** Takes a lane's sums as they come, however many, and keeps some of them evenly. */
export class GrowingCourse {
  private readonly kept: { time: number; progress: number; spent: readonly number[] }[] = [];
  private stride = 1;
  private count = 0;

  /** @param spent by part: seconds so far; copied where it is kept */
  add(time: number, progress: number, spent: readonly number[]): void {
    if (this.count++ % this.stride !== 0) return;
    this.kept.push({ time, progress, spent: [...spent] });
    if (this.kept.length < MOST) return;
    for (let k = 0; 2 * k + 1 < this.kept.length; k++) this.kept[k] = this.kept[2 * k + 1];
    this.kept.length = MOST / 2;
    this.count = 0;
    this.stride *= 2;
  }

  /** With the lane's last sums. */
  end(time: number, progress: number, spent: readonly number[]): LaneCourse {
    const all = [...this.kept, { time, progress, spent: [...spent] }];
    return {
      times: all.map((one) => one.time),
      progress: all.map((one) => one.progress),
      // What was kept before a part was first met does not know of it.
      spent: spent.map((_, part) => all.map((one) => one.spent[part] ?? 0)),
    };
  }
}

/** The place in rising `xs` up to which values are at most `x`; −1 where all are greater. */
function lastUpTo(xs: readonly number[], x: number): number {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (xs[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** `ys` at `x`, straight between the places of rising `xs`; before the first it rises from (0, `start`), after the last it stays. */
export function valueAt(
  xs: readonly number[],
  ys: readonly number[],
  x: number,
  start = 0,
): number {
  const k = lastUpTo(xs, x);
  if (k >= xs.length - 1) return ys[xs.length - 1];
  const [x0, y0] = k < 0 ? [Math.min(0, xs[0]), start] : [xs[k], ys[k]];
  const [x1, y1] = [xs[k + 1], ys[k + 1]];
  return x1 > x0 ? y0 + ((y1 - y0) * Math.max(0, x - x0)) / (x1 - x0) : y1;
}

/** One lane that stands for all: its sums are the means of theirs. */
export function meanLane(name: string, lanes: readonly LaneTimes[], parts: number): LaneTimes {
  const last = Math.max(...lanes.map(({ course }) => course.progress.at(-1) as number));
  const grid = Array.from({ length: MOST }, (_, k) => (last * (k + 1)) / MOST);
  const mean = (of: (lane: LaneTimes) => number) =>
    lanes.reduce((sum, lane) => sum + of(lane), 0) / lanes.length;
  return {
    name,
    seconds: mean(({ seconds }) => seconds),
    course: {
      times: grid.map((x) =>
        mean(({ course, seconds }) =>
          valueAt(course.progress, course.times, x, (course.times.at(-1) as number) - seconds),
        ),
      ),
      progress: grid,
      spent: Array.from({ length: parts }, (_, part) =>
        grid.map((x, k) =>
          k === MOST - 1
            ? mean(({ course }) => course.spent[part].at(-1) as number)
            : mean(({ course }) => valueAt(course.progress, course.spent[part], x)),
        ),
      ),
    },
  };
}
