/** Where LPs live: LP → PE and KP. Runs in the server and in the page. */
import { lpPlaces } from '../../formats/ross/read/lp-mapping.ts';
import type { Level } from './levels.ts';

const NOWHERE = -1;
/** An LP number from here on is damage, not an LP. */
export const MOST_LPS = 1 << 24;
const START = 1024;

/** `old` with room for `length` numbers, at least. */
function wider(old: Int32Array, length: number): Int32Array {
  const made = new Int32Array(Math.min(MOST_LPS, Math.max(length, 2 * old.length))).fill(NOWHERE);
  made.set(old);
  return made;
}

export class PlacesByLp {
  private pes: Int32Array = new Int32Array(START).fill(NOWHERE);
  private kps: Int32Array = new Int32Array(START).fill(NOWHERE);
  /** LPs whose place is known. */
  size = 0;

  put(lp: number, pe: number, kp: number): void {
    if (!(lp >= 0 && lp < MOST_LPS)) return;
    if (lp >= this.pes.length) {
      this.pes = wider(this.pes, lp + 1);
      this.kps = wider(this.kps, lp + 1);
    }
    if (this.pes[lp] === NOWHERE) this.size++;
    this.pes[lp] = pe;
    this.kps[lp] = kp;
  }

  /** -1 if unknown. */
  peOf(lp: number): number {
    return this.pes[lp] ?? NOWHERE;
  }

  kpOf(lp: number): number {
    return this.kps[lp] ?? NOWHERE;
  }

  /** Path of the entity to which an LP belongs at a level; its number alone if its place is unknown. */
  pathOf(lp: number, level: Level): string {
    const pe = this.peOf(lp);
    if (pe < 0) return `?/?/${lp}`;
    if (level === 'pe') return String(pe);
    return level === 'kp' ? `${pe}/${this.kpOf(lp)}` : `${pe}/${this.kpOf(lp)}/${lp}`;
  }
}

/** Reads the lines of an `lp-mapping.txt`. Any other file is ignored. */
export function readMapping(text: string, places: PlacesByLp): void {
  for (const { lp, pe, kp } of lpPlaces(text) ?? []) places.put(lp, pe, kp);
}
