/** Where LPs live: LP → PE and KP. Runs in the server and in the page. */
import { lpPlaces } from '../../formats/ross/read/lp-mapping.ts';
import { Growing } from './growing.ts';
import type { Level } from './levels.ts';

const NOWHERE = -1;
/** An LP number beyond this is damage, not an LP. */
const MOST = 1 << 26;

export class Places {
  private readonly pes = new Growing();
  private readonly kps = new Growing();
  /** LPs whose place is known. */
  size = 0;

  put(lp: number, pe: number, kp: number): void {
    if (!(lp >= 0 && lp < MOST)) return;
    while (this.pes.length <= lp) {
      this.pes.push(NOWHERE);
      this.kps.push(NOWHERE);
    }
    if (this.pes.values[lp] === NOWHERE) this.size++;
    this.pes.values[lp] = pe;
    this.kps.values[lp] = kp;
  }

  /** -1 where it is not known. */
  peOf(lp: number): number {
    return lp < this.pes.length ? this.pes.values[lp] : NOWHERE;
  }

  kpOf(lp: number): number {
    return lp < this.kps.length ? this.kps.values[lp] : NOWHERE;
  }

  /** Path of the entity at a level that an LP is part of; its number alone where nobody knows its place. */
  pathOf(lp: number, level: Level): string {
    const pe = this.peOf(lp);
    if (pe < 0) return `?/?/${lp}`;
    if (level === 'pe') return String(pe);
    return level === 'kp' ? `${pe}/${this.kpOf(lp)}` : `${pe}/${this.kpOf(lp)}/${lp}`;
  }
}

/** Takes the lines of an `lp-mapping.txt`. A file that is something else is left alone. */
export function readMapping(text: string, places: Places): void {
  for (const { lp, pe, kp } of lpPlaces(text) ?? []) places.put(lp, pe, kp);
}
