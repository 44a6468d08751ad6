/** The transport of one PE: nothing is ever sent, GVT is the least pending time. */
import type { Transport } from './transport.ts';

export class SequentialTransport implements Transport {
  readonly pe = 0;
  readonly pes = 1;
  readonly reductionsPerGvt = 0;
  gvt = 0;
  committed = 0;
  rolledBack = 0;
  stop = false;
  #requested = false;
  #agreed = Number.NaN;
  #hookAsked = false;
  #hookDue = false;
  #pressure = 0;

  post(): void {
    throw new Error('one PE sends nothing');
  }
  cancel(): void {
    throw new Error('one PE sends nothing');
  }
  flush(): void {}
  drain(): number {
    return 0;
  }
  requestGvt(): void {
    this.#requested = true;
  }
  gvtWaits(): boolean {
    return this.#requested;
  }
  contribute(least: number): void {
    this.#requested = false;
    this.#agreed = least;
    this.#hookDue = this.#hookAsked;
    this.#hookAsked = false;
  }
  takeGvt(): number {
    const gvt = this.#agreed;
    this.#agreed = Number.NaN;
    return gvt;
  }
  askHook(): void {
    this.#hookAsked = true;
  }
  hookDue(): boolean {
    return this.#hookDue;
  }
  setPressure(level: number): void {
    this.#pressure = level;
  }
  pressure(): number {
    return this.#pressure;
  }
  report(gvt: number, committed: number, rolledBack: number): void {
    this.gvt = gvt;
    this.committed = committed;
    this.rolledBack = rolledBack;
  }
  stopped(): boolean {
    return this.stop;
  }
  rest(): void {}
}
