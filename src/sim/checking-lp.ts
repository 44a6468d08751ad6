/** The LP that handlers get under rollback-check: its messages detect when they are filled too late. */
import type { AnyMessage } from './lp.ts';
import { OptimisticLp } from './optimistic-lp.ts';
import { type Sending, sendingClass } from './sending.ts';

export class CheckingLp extends OptimisticLp {
  private readonly Message;
  private latest: Sending | null = null;

  constructor(...args: ConstructorParameters<typeof OptimisticLp>) {
    super(...args);
    this.Message = sendingClass(this.host.messageLayout);
  }

  override enter(index: number, h: number): void {
    this.close();
    super.enter(index, h);
  }

  /** Each send returns another object; in other runs 8 objects take turns. */
  override messageOf(h: number): AnyMessage {
    this.close();
    this.latest = new this.Message(this.host.poolMemory, null);
    this.latest.$b = h;
    return this.latest;
  }

  private close(): void {
    if (this.latest !== null) this.latest.$b = 0;
  }
}
