/** Texts that come again and again as bytes, such as types and devices: each is decoded once. */

const START = 0x811c9dc5;
const PRIME = 0x01000193;

export class Names {
  /** Open addressing: slot → number of the name, or -1. */
  #slots = new Int32Array(64).fill(-1);
  #mask = 63;
  readonly #hashes: number[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly texts: string[] = [];

  /** Number of the name in `bytes[from, to)`, from 0 in the order of first sight. */
  of(bytes: Uint8Array, from: number, to: number): number {
    let hash = START;
    for (let k = from; k < to; k++) hash = Math.imul(hash ^ bytes[k], PRIME);
    let slot = hash & this.#mask;
    for (let name = this.#slots[slot]; name >= 0; name = this.#slots[slot]) {
      if (this.#hashes[name] === hash && this.#same(name, bytes, from, to)) return name;
      slot = (slot + 1) & this.#mask;
    }
    return this.#add(hash, slot, new Uint8Array(bytes.subarray(from, to)));
  }

  #same(name: number, bytes: Uint8Array, from: number, to: number): boolean {
    const known = this.#bytes[name];
    if (known.length !== to - from) return false;
    for (let k = 0; k < known.length; k++) if (known[k] !== bytes[from + k]) return false;
    return true;
  }

  #add(hash: number, slot: number, bytes: Uint8Array): number {
    const name = this.texts.length;
    this.#hashes.push(hash);
    this.#bytes.push(bytes);
    this.texts.push(Buffer.from(bytes).toString('utf8'));
    this.#slots[slot] = name;
    if (2 * this.texts.length > this.#mask) this.#grow();
    return name;
  }

  #grow(): void {
    this.#mask = 2 * this.#mask + 1;
    this.#slots = new Int32Array(this.#mask + 1).fill(-1);
    for (let name = 0; name < this.texts.length; name++) {
      let slot = this.#hashes[name] & this.#mask;
      while (this.#slots[slot] >= 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = name;
    }
  }
}
