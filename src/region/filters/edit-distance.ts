/** `edit_distance`: finds epochs from the period in which regions are entered. */
import { type EpochFinder, type RecordFilter, settingsFrom } from './filter.ts';
import { Periodicity } from './periodicity.ts';

interface Settings {
  readonly buffer: number;
  readonly base: number;
  readonly least: number;
  readonly stable: number;
  readonly unstable: number;
}

class EditDistance implements EpochFinder {
  private readonly settings: Settings;
  private readonly periodicity: Periodicity;
  /** The period that was found, or the candidate. */
  private last = 0;
  private found = false;
  /** Entries for which the period stayed the same, or for which it differed. */
  private stable = 0;
  private unstable = 0;
  /** Number of the entry at which the last epoch began. */
  private begin = 0;
  private epochs = 0;

  constructor(settings: Settings) {
    this.settings = settings;
    this.periodicity = new Periodicity(settings.buffer);
  }

  entry(hash: number): number {
    this.periodicity.add(hash);
    if (this.periodicity.period === 0) return 0;
    const begins = this.found ? this.follow() : this.search();
    if (!begins) return 0;
    this.begin = this.periodicity.count;
    return ++this.epochs;
  }

  private search(): boolean {
    const { period, score } = this.periodicity;
    const { base, least, stable } = this.settings;
    if (score >= period || period < least) {
      this.last = 0;
      this.stable = 0;
      return false;
    }
    if (period !== this.last) {
      this.last = period;
      this.stable = 0;
      return false;
    }
    this.stable++;
    this.found =
      period <= base ? this.stable === stable * base : this.stable >= Math.floor(stable * period);
    if (this.found) this.stable = 0;
    return this.found;
  }

  private follow(): boolean {
    const { period, count } = this.periodicity;
    if (period === this.last) this.unstable = 0;
    else if (++this.unstable >= Math.floor(this.settings.unstable * this.last)) {
      // The lost period is remembered: if it returns, it is found one entry earlier.
      this.found = false;
      this.unstable = 0;
      return false;
    }
    return period >= this.last && count >= this.begin + period;
  }
}

/** Maximum of remembered entries: the table takes 4 bytes times their cube. */
const MOST_BUFFER = 400;

/** `[BUFFER[,BASE[,LEAST[,STABLE[,UNSTABLE]]]]]`; the defaults are 50, 4, 3, 1.0, 1.5. @throws RecordFilterError */
export function editDistance(given: readonly string[]): RecordFilter {
  const [buffer, base, least, stable, unstable] = settingsFrom('edit_distance', given, [
    { name: 'buffer', value: 50, whole: true, least: 2, most: MOST_BUFFER },
    { name: 'hysteresis base', value: 4, whole: true, least: 1 },
    { name: 'minimum period', value: 3, whole: true, least: 1 },
    { name: 'stable hysteresis', value: 1, least: 0 },
    { name: 'unstable hysteresis', value: 1.5, least: 0 },
  ]);
  return () => new EditDistance({ buffer, base, least, stable, unstable });
}
