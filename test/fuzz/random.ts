/** Numbers that look random and follow from a seed: a case is found again by its seed. */

/** Mixes a text and a number to 32 bits. */
export function seedOf(text: string, number: number): number {
  let hash = 0x811c9dc5 ^ number;
  for (let k = 0; k < text.length; k++) hash = Math.imul(hash ^ text.charCodeAt(k), 0x01000193);
  return hash >>> 0;
}

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 32 bits. */
  word(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return (x ^ (x >>> 15)) >>> 0;
  }

  /** At least 0, below `end`; 0 where that is nothing. */
  below(end: number): number {
    return end <= 1 ? 0 : this.word() % end;
  }

  /** From `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.word() & 0xff);
  }
}
