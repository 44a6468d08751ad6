/** Prints the events of some LPs as they are handled, undone and committed, for debugging a model. */
import { writeSync } from 'node:fs';
import { plain } from '../model/struct-class.ts';
import * as layout from './layout.ts';
import type { AnyLpType, LpContext } from './lp.ts';
import { ModelError } from './model-error.ts';
import type { Pe } from './pe.ts';

const { RECV, SEND, SOURCE } = layout;

/** The LPs to be traced, and where to print. Plain data: it crosses threads. */
export interface TraceRequest {
  /** Global ids. */
  readonly lps: readonly number[];
  /** Number of an open file descriptor; 2 is standard error. */
  readonly to: number;
}

type What = 'handled' | 'undone' | 'committed';

const text = (value: unknown) =>
  JSON.stringify(value, (_key, x: unknown) => (typeof x === 'bigint' ? String(x) : x)) ?? '';

/**
 * Replaces the handlers of the LPs' types and the PE's `committed`, so that other runs pay nothing. Lines
 * are written at once, without buffers: they remain if the run fails or hangs.
 */
export class LpTrace {
  private readonly pe: Pe;
  private readonly lps: ReadonlySet<number>;
  private readonly to: number;

  /** Must be created before the first event. @throws ModelError for an LP that the run does not have */
  constructor(pe: Pe, { lps, to }: TraceRequest) {
    this.pe = pe;
    this.lps = new Set(lps);
    this.to = to;
    for (const lp of lps) {
      if (Number.isInteger(lp) && lp >= 0 && lp < pe.placement.lps) continue;
      throw new ModelError(`--trace-lp=${lp}: no such LP; ids are 0…${pe.placement.lps - 1}`);
    }
    if (!pe.ids.some((id) => this.lps.has(id))) return;
    for (const context of pe.contexts) this.follow(context);
    const committed = pe.committed;
    pe.committed = (h, id) => {
      committed.call(pe, h, id);
      if (this.lps.has(id)) this.tell('committed', h, id);
    };
    pe.trace = this;
  }

  /** Event `h` of the LP at `index` has been undone. */
  undone(h: number, index: number): void {
    const id = this.pe.ids[index];
    if (this.lps.has(id)) this.tell('undone', h, id);
  }

  private follow(context: LpContext): void {
    const { handlers } = context;
    const forward: typeof handlers.forward = (lp, message) => {
      if (!this.lps.has(context.id)) return handlers.forward.call(handlers, lp, message);
      const received = text(plain(this.pe.messageLayout, message));
      const before = this.stateOf(context);
      const sends: string[] = [];
      const { send } = context;
      context.send = (dest, delay, priority) => {
        sends.push(`${dest} at ${context.now + delay}`);
        return send.call(context, dest, delay, priority);
      };
      try {
        handlers.forward.call(handlers, lp, message);
      } catch (error) {
        this.tell('handled', context.h, context.id, ` ${received} threw ${String(error)}`);
        throw error;
      } finally {
        context.send = send;
      }
      const after = this.stateOf(context);
      const changes = Object.keys(after)
        .filter((name) => after[name] !== before[name])
        .map((name) => `${name} ${before[name]} → ${after[name]}`);
      const parts = [
        ...(changes.length > 0 ? [`state: ${changes.join(', ')}`] : []),
        ...(sends.length > 0 ? [`sends to ${sends.join(', ')}`] : []),
      ];
      const all = [received, ...parts].join('; ');
      this.tell('handled', context.h, context.id, ` ${all}`);
    };
    context.handlers = Object.create(handlers, { forward: { value: forward } }) as AnyLpType;
  }

  private stateOf({ stateLayout, state }: LpContext): Record<string, string> {
    const fields = Object.entries(plain(stateLayout, state));
    return Object.fromEntries(fields.map(([name, value]) => [name, text(value)]));
  }

  private tell(what: What, h: number, id: number, more = ''): void {
    const { F, I } = this.pe.pool;
    const from = `from ${I[(h << 1) + SOURCE]} sent ${F[h + SEND]}`;
    this.write(Buffer.from(`LP ${id} ${F[h + RECV]} ${what} ${from}${more}\n`));
  }

  private write(line: Uint8Array): void {
    for (let at = 0; at < line.length; ) {
      try {
        at += writeSync(this.to, line, at);
      } catch (error) {
        // A non-blocking pipe that is full.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
    }
  }
}
