/**
 * Single rollbacks of a run that goes on, for clients that ask. A run may have tens of thousands a second, so that their
 * frames are decoded only while somebody asks, beginning with those that the bus still has.
 */
import { FrameDecoder } from '../../formats/frames/decode.ts';
import { Rollbacks } from '../../view/simulation/rollbacks.ts';
import type { LiveBus } from '../bus.ts';

const TABLE = 'ross_rollback';
/** Rollbacks kept, the newest. */
const MOST = 100_000;
/** Milliseconds without a question after which they are forgotten. */
const FORGOTTEN_AFTER_MS = 5000;

export class LiveRollbacks {
  private readonly bus: LiveBus;
  private readonly most: number;
  private readonly patience: number;
  private newest: Rollbacks | null = null;
  private stop: () => void = () => {};
  private timer: NodeJS.Timeout | null = null;

  constructor(bus: LiveBus, most = MOST, patience = FORGOTTEN_AFTER_MS) {
    this.bus = bus;
    this.most = most;
    this.patience = patience;
  }

  /** Those that there are now, in the order in which they came. They do not change. */
  get(): Rollbacks {
    if (this.timer === null) this.timer = setTimeout(() => this.close(), this.patience).unref();
    else this.timer.refresh();
    this.newest ??= this.follow();
    return this.newest.copy();
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.stop();
    this.newest = null;
  }

  private follow(): Rollbacks {
    const rollbacks = new Rollbacks(this.most);
    const decoders = new Map<number, FrameDecoder>();
    this.stop = this.bus.follow({
      facts: () => {},
      wants: (table) => table === TABLE,
      frame: (stream, frame) => {
        const decoder = decoders.get(stream) ?? new FrameDecoder({ onDamage: () => {} });
        decoders.set(stream, decoder);
        for (const batch of decoder.push(frame)) rollbacks.take(batch);
        return true;
      },
    });
    return rollbacks;
  }
}
