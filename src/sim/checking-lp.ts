/** The LP that handlers get under rollback-check: its messages detect when they are filled too late. */
import { type Flyweight, structClass } from '../model/struct-class.ts';
import * as layout from './layout.ts';
import type { AnyMessage } from './lp.ts';
import { OptimisticLp } from './optimistic-lp.ts';

export class CheckingLp extends OptimisticLp {
  private readonly Sending;
  private latest: (AnyMessage & Flyweight) | null = null;

  constructor(...args: ConstructorParameters<typeof OptimisticLp>) {
    super(...args);
    this.Sending = structClass<Readonly<Record<string, never>>>(
      this.host.messageLayout,
      'sent',
      layout.PAYLOAD * 8,
    );
  }

  override enter(index: number, h: number): void {
    this.close();
    super.enter(index, h);
  }

  /** Each send returns another object; in other runs 8 objects take turns. */
  override messageOf(h: number): AnyMessage {
    this.close();
    this.latest = new this.Sending(this.host.poolMemory, null);
    this.latest.$b = h;
    return this.latest;
  }

  private close(): void {
    if (this.latest !== null) this.latest.$b = 0;
  }
}
