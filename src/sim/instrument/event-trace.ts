/** The event trace of one PE in the form of the file: 24 bytes per event, followed by what the model adds. */
import { eventRow2017Words, isPacked } from '../../formats/ross/write/index.ts';
import type { RunClock } from '../../os/run-clock.ts';
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import type { InstrumentConfig } from './config.ts';
import { type Payload, payloadsOf } from './payload.ts';
import type { EventTracer } from './pe-recorder.ts';
import type { SlabWriter } from './slab.ts';

const { RECV, SEND, SOURCE } = layout;

const BEGUN = 1;

/** Words of an event's record: seed 000's, and that of 2017 (with a duration if all events are traced). */
const WORDS = 6;
const WORDS_2017 = 10;
const WORDS_2017_FULL = 12;

/**
 * Makes a tracer that writes into `slab`. A closure over constants, because it runs once per event.
 * @throws ModelError if a model's `instrumentOf` does not name an instrument
 */
export function eventTracer(
  pe: Pe,
  slab: SlabWriter,
  clock: RunClock,
  config: InstrumentConfig,
): EventTracer {
  const { F, I } = pe.pool;
  const { ids } = pe;
  const { i32, f32, f64 } = slab;
  const payloads = payloadsOf(pe, config.trace === 'rollbacks' ? 'traceRollback' : 'traceEvent');
  const perEvent = config.traceClock === 'event';
  const full = config.trace === 'all';
  const old = isPacked(config.layout);
  const words = old ? (full ? WORDS_2017_FULL : WORDS_2017) : WORDS;
  /** The time of events for which the clock is not read, and when the current one began. */
  const time = new Float64Array(16);
  time[0] = clock.now();
  time[BEGUN] = Number.NaN;

  const head = (at: number, h: number, index: number, bytes: number): void => {
    i32[at] = I[(h << 1) + SOURCE];
    i32[at + 1] = ids[index];
    f32[at + 2] = F[h + SEND];
    f32[at + 3] = F[h + RECV];
    f32[at + 4] = perEvent ? clock.now() : time[0];
    i32[at + 5] = bytes;
  };

  /** The upper half of the source holds the number of the model's bytes until the recorder packs them. */
  const head2017 = (at: number, h: number, index: number, bytes: number): void => {
    i32[at] = I[(h << 1) + SOURCE];
    i32[at + 1] = bytes;
    i32[at + 2] = ids[index];
    i32[at + 3] = 0;
    const d = at >> 1;
    f64[d + 2] = F[h + RECV];
    f64[d + 3] = F[h + SEND];
    f64[d + 4] = perEvent ? clock.now() : time[0];
    if (!full) return;
    // Not a number: not measured.
    f64[d + 5] = f64[d + 4] - time[BEGUN];
    time[BEGUN] = Number.NaN;
  };

  /** The usual case, kept as short as possible: V8 has little room left in the loops that call it. */
  const plain = (h: number, index: number): void => {
    const at = slab.at;
    const end = at + WORDS;
    if (end > slab.limit) plainInNext(h, index);
    else {
      slab.at = end;
      head(at, h, index, 0);
    }
  };

  const plainInNext = (h: number, index: number): void => {
    if (slab.ensure(WORDS)) plain(h, index);
  };

  const plain2017 = (h: number, index: number): void => {
    if (!slab.ensure(words)) return;
    const at = slab.at;
    slab.at = at + words;
    head2017(at, h, index, 0);
  };

  /** A closure for each payload, as it and the LPs' reader are then constants, too. */
  const withPayload = (payload: Payload): EventTracer['record'] => {
    const reader = pe.only?.reader ?? null;
    const { bytes, size } = payload.layout;
    const extra = old ? eventRow2017Words(0, size) : bytes / 4;
    const whole = words + extra;
    const from = payload.words;
    return (h, index) => {
      if (!payload.fill((reader ?? pe.contextOf(index).reader).enter(index, h))) return;
      if (slab.at + whole > slab.limit && !slab.ensure(whole)) return;
      const at = slab.at;
      slab.at = at + whole;
      if (old) head2017(at, h, index, size);
      else head(at, h, index, bytes);
      for (let k = 0; k < extra; k++) i32[at + words + k] = from[k];
    };
  };

  const recordOf = (payloads: readonly (Payload | null)[]): EventTracer['record'] => {
    const made = new Map(Array.from(new Set(payloads), (p) => [p, p && withPayload(p)]));
    const [first] = made.values();
    if (made.size === 1 && first) return first;
    const records = payloads.map((p) => made.get(p));
    return (h, index) => records[index]?.(h, index);
  };

  const record = payloads !== null ? recordOf(payloads) : old ? plain2017 : plain;

  const batch = () => {
    if (!perEvent) time[0] = clock.now();
  };
  const begin = () => {
    time[BEGUN] = clock.now();
  };
  return { record, batch, begin: old && full && perEvent ? begin : null };
}
