/** The LP that handlers get under rollback-check: its messages detect when they are filled too late. */
import { type Flyweight, structClass } from '../model/struct-class.ts';
import * as layout from './layout.ts';
import type { AnyMessage } from './lp.ts';
import { OptimisticLp } from './optimistic-lp.ts';

const SPENT =
  'it was filled after the next send() or after its event, and would have been another event’s; fill each message before the next send()';

export class CheckingLp extends OptimisticLp {
  private readonly Open;
  private readonly Spent;
  private latest: (AnyMessage & Flyweight) | null = null;

  constructor(...args: ConstructorParameters<typeof OptimisticLp>) {
    super(...args);
    const of = this.host.messageLayout;
    const shift = layout.PAYLOAD * 8;
    this.Open = structClass<Readonly<Record<string, never>>>(of, 'plain', shift);
    this.Spent = structClass<Readonly<Record<string, never>>>(of, 'readonly', shift, SPENT);
  }

  override enter(index: number, h: number): void {
    this.close();
    super.enter(index, h);
  }

  override nothing(): AnyMessage {
    return this.messageOf(this.host.pool.emptySink());
  }

  /** Each send returns another object; in other runs it is the same object, moved. */
  override messageOf(h: number): AnyMessage {
    this.close();
    const message = new this.Open(this.host.poolMemory, null);
    message.$b = h;
    this.latest = message;
    return message;
  }

  /** From now on the last message refuses to be written. */
  private close(): void {
    const message = this.latest;
    if (message === null) return;
    this.latest = null;
    const spent = new this.Spent(this.host.poolMemory, null);
    spent.$b = message.$b;
    Object.setPrototypeOf(message, this.Spent.prototype);
    Object.assign(message, spent);
  }
}
