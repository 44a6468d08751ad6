/** The transport of one PE: nothing is ever sent, and GVT is the least pending time. */
import { copyGvt, type Gvt, startOfTime, type Transport } from './transport.ts';

export class SequentialTransport implements Transport {
  readonly pe = 0;
  readonly pes: number = 1;
  readonly slowGvt = false;
  readonly heldBack = 0;
  readonly reductionsPerGvt = 0;
  readonly promises = true;
  readonly tells = false;
  gvt = 0;
  committed = 0;
  rolledBack = 0;
  stop = false;
  private requested = false;
  private readonly agreed = startOfTime();
  private fresh = false;
  private asks = 0;
  private answer = 0;
  private _pressure = 0;

  full(): boolean {
    return false;
  }

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
  requestGvt(): boolean {
    const started = !this.requested;
    this.requested = true;
    return started;
  }
  gvtWaits(): boolean {
    return this.requested;
  }
  contribute(least: Gvt): void {
    this.requested = false;
    copyGvt(least, this.agreed);
    this.fresh = true;
    this.answer = this.asks;
    this.asks = 0;
  }
  takeGvt(out: Gvt): boolean {
    if (!this.fresh) return false;
    this.fresh = false;
    copyGvt(this.agreed, out);
    return true;
  }
  ask(what: number): void {
    this.asks |= what;
  }
  asked(): number {
    return this.answer;
  }
  setPressure(level: number): void {
    this._pressure = level;
  }
  pressure(): number {
    return this._pressure;
  }
  report(gvt: number, committed: number, rolledBack: number): void {
    this.gvt = gvt;
    this.committed = committed;
    this.rolledBack = rolledBack;
  }
  stopped(): boolean {
    return this.stop;
  }
  tell(): void {}
  toldFrom(): boolean {
    return false;
  }
  lbts(): number {
    return Infinity;
  }
  withdraw(): void {}
  rest(): void {}
}
