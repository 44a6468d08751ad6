/**
 * The two synchronisers that prove a model's rollback (ROSS's --synch=6 and --synch=4).
 *
 * rollback-check: every event is handled, undone, compared with the state before, and handled again.
 * optimistic-debug: nothing is committed until the end (or until memory is full); then everything is
 * rolled back and compared with the initial state, handled again, and committed.
 */
import { Digest } from './digest.ts';
import type { Driver } from './driver.ts';
import { GvtHooks } from './gvt-hooks.ts';
import { OutOfEventMemoryError } from './in-order.ts';
import { E_OUT, E_OUTS } from './kp-layout.ts';
import { DEST, PAYLOAD } from './layout.ts';
import { LP_STATE, type LpContext } from './lp.ts';
import { ModelError } from './model.ts';
import type { Optimism } from './optimistic.ts';
import type { Pe } from './pe.ts';
import { ASK_HOOK, ASK_SAMPLE, endOfTime, type Transport } from './transport/transport.ts';

const END_OF_TIME = endOfTime();

/** `reverse` did not restore something that `forward` changed. */
class RollbackError extends ModelError {
  override readonly name = 'RollbackError';
}

/** Name of the part of an LP's block that word `word` lies in. */
function partOf(lp: LpContext, word: number): string {
  const double = word >> 1;
  if (double < 4) return 'its random stream';
  if (double < LP_STATE) return 'its number of sends';
  const byte = (double - LP_STATE) * 8 + (word & 1) * 4;
  const field = lp.stateLayout.fields.findLast((f) => f.offset <= byte + 3);
  return `state.${field?.name ?? `byte ${byte}`}`;
}

export class RollbackCheckRun implements Driver {
  finished = false;
  gvt = 0;
  private readonly hooks: GvtHooks;
  /** Events that stand for a GVT, for hooks at every n-th one. */
  private readonly period: number;
  private sinceGvt = 0;
  private lastTime = -1;
  private readonly pe: Pe;
  private readonly engine: Optimism;
  private readonly transport: Transport;

  constructor(pe: Pe, engine: Optimism, transport: Transport) {
    this.pe = pe;
    this.engine = engine;
    this.transport = transport;
    this.hooks = new GvtHooks(pe);
    this.period = pe.config.gvtInterval * pe.config.batch;
  }

  advance(milliseconds: number): boolean {
    const until = performance.now() + milliseconds;
    for (;;) {
      for (let n = 0; n < 64; n++) if (!this.one()) return false;
      this.transport.report(this.gvt, this.pe.counts[0], 0);
      if (performance.now() >= until) return !this.transport.stopped();
    }
  }

  private one(): boolean {
    const { engine, pe, hooks } = this;
    const h = engine.first();
    this.gvt = Math.min(h === 0 ? Infinity : pe.pool.F[h], pe.stopTime);
    const asks = pe.hookAsked && this.gvt > this.lastTime;
    if (this.gvt >= hooks.nextTime || asks || ++this.sinceGvt >= this.period || h === 0) {
      if (asks) pe.hookAsked = false;
      this.sinceGvt = 0;
      hooks.reached(this.gvt, asks ? ASK_HOOK | ASK_SAMPLE : ASK_SAMPLE);
      pe.checkpoints?.reachedAlone(this.gvt);
    }
    if (h === 0 || this.gvt >= pe.stopTime) {
      this.finished = true;
      return false;
    }
    this.lastTime = this.gvt;
    pe.queue.pop();
    const lp = engine.lpOf(h);
    const at = lp.base << 1;
    const before = pe.memory.i32.slice(at, at + pe.blockSize * 2);
    const counted = pe.counted();
    engine.handle(h);
    engine.stopIfHeld(h);
    const after = pe.memory.i32.slice(at, at + pe.blockSize * 2);
    const sent = newestSends(engine, h);
    engine.rollBackFrom(-Infinity);
    const words = pe.memory.i32;
    for (let w = 0; w < before.length; w++) {
      if (words[at + w] !== before[w]) {
        lp.enter(lp.index, h);
        throw new RollbackError(
          `${lp.describe()}: reverse() does not restore ${partOf(lp, w)} (before ${before[w]}, after ${words[at + w]})`,
        );
      }
    }
    pe.recount(counted);
    const again = engine.first();
    if (again !== h)
      throw new RollbackError(`${lp.describe()}: rolled back, it is no longer the first event`);
    pe.queue.pop();
    engine.handle(h);
    engine.stopIfHeld(h);
    if (engine.starved) {
      throw new OutOfEventMemoryError(
        `out of event memory at virtual time ${this.gvt}; raise --max-memory`,
      );
    }
    this.compareAgain(lp, h, at, after, sent);
    engine.fossilCollect(END_OF_TIME);
    return true;
  }

  /** A message that was not restored, or a change outside the state, shows at the second handling. */
  private compareAgain(
    lp: LpContext,
    h: number,
    at: number,
    after: Int32Array,
    sent: string,
  ): void {
    const words = this.pe.memory.i32;
    const w = after.findIndex((word, k) => words[at + k] !== word);
    if (w < 0 && newestSends(this.engine, h) === sent) return;
    lp.enter(lp.index, h);
    const what = w < 0 ? 'sends something else' : `gives another ${partOf(lp, w)}`;
    throw new RollbackError(
      `${lp.describe()}: handled again after reverse(), it ${what}: reverse() must restore the message too, and forward() depend on nothing but state and message`,
    );
  }

  where(): LpContext {
    return this.engine.where();
  }
}

export class DebugRun implements Driver {
  finished = false;
  gvt = 0;
  private readonly hooks: GvtHooks;
  private readonly chunk: number;
  private readonly pe: Pe;
  private readonly engine: Optimism;
  private readonly transport: Transport;
  /** Digest of the state at the last commit. */
  private base = '';

  constructor(pe: Pe, engine: Optimism, transport: Transport) {
    this.pe = pe;
    this.engine = engine;
    this.transport = transport;
    this.hooks = new GvtHooks(pe);
    const every = pe.model.gvtHook?.every !== undefined;
    this.chunk = every ? pe.config.gvtInterval * pe.config.batch : 1024;
  }

  advance(milliseconds: number): boolean {
    const { engine, pe, transport, hooks } = this;
    if (this.base === '') this.base = pe.stateDigest().toString();
    const until = performance.now() + milliseconds;
    for (;;) {
      const n = engine.run(this.chunk, Math.min(hooks.nextTime, engine.stopTime()));
      // Events handled before the stopping event may lie past the stop.
      engine.rollBackFrom(engine.stopTime());
      const everyGvt = pe.model.gvtHook?.every !== undefined;
      if (n === 0 || engine.starved || everyGvt) {
        if (n > 0 || engine.starved || engine.uncommitted() > 0) this.prove();
        this.gvt = Math.min(engine.least(), pe.stopTime);
        const asked = pe.hookAsked;
        pe.hookAsked = false;
        hooks.reached(this.gvt, asked ? ASK_HOOK | ASK_SAMPLE : ASK_SAMPLE);
        pe.checkpoints?.reachedAlone(this.gvt);
        if (engine.first() === 0 || engine.least() >= pe.stopTime) {
          this.finished = true;
          return false;
        }
      }
      transport.report(this.gvt, pe.counts[0], 0);
      if (transport.stopped()) return false;
      if (performance.now() >= until) return true;
    }
  }

  /** Rolls back all uncommitted events, compares, handles them again and commits them. */
  private prove(): void {
    const { engine, pe } = this;
    const count = engine.uncommitted();
    if (count === 0) {
      throw new OutOfEventMemoryError(
        `out of event memory at virtual time ${this.gvt}; raise --max-memory`,
      );
    }
    const digest = pe.stateDigest().toString();
    const counted = pe.counted();
    engine.rollBackFrom(-Infinity);
    // Events of cancelled timers count as handled: they stay.
    engine.sweepCancelled(false);
    if (pe.stateDigest().toString() !== this.base) {
      throw new RollbackError(
        `rolling back all ${count} events since virtual time ${this.gvt} does not restore the state then; --synch=rollback-check finds the event`,
      );
    }
    engine.starved = false;
    pe.recount(counted);
    const done = engine.run(count, Infinity);
    if (done !== count || pe.stateDigest().toString() !== digest) {
      throw new RollbackError(
        `handling the ${count} events since virtual time ${this.gvt} again gives another state: the model depends on something outside its state and messages`,
      );
    }
    pe.recount(counted);
    engine.fossilCollect(END_OF_TIME);
    this.base = pe.stateDigest().toString();
  }

  where(): LpContext {
    return this.engine.where();
  }
}

/** A digest of what event `h`, the newest of its KP, has sent: times, destinations and messages. */
function newestSends({ pe, kps, entries }: Optimism, h: number): string {
  const { pool } = pe;
  const kp = kps[pe.kps[pool.I[(h << 1) + DEST]]];
  const sent = new Digest();
  const { E } = entries;
  const e = kp.newest();
  const count = E[e + E_OUTS];
  for (let n = 1; n <= count; n++) {
    const code = n === count ? E[e + E_OUT] : kp.outs[(kp.outTail - n) & (kp.outs.length - 1)];
    if (code < 0) continue;
    // Excludes whether its tie-breaker has been computed yet.
    pe.ties.of(code);
    sent.addWords(n, pool.I, code << 1, 6);
    sent.addWords(-n, pool.I, (code + PAYLOAD) << 1, pool.payload * 2);
    sent.addWords(n, pool.I, (code << 1) + DEST, 1);
  }
  return `${count} ${sent}`;
}
