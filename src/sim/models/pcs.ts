/**
 * Personal communication service: a grid of radio cells with a few channels each; calls begin, move on to
 * neighbouring cells and end (C. Carothers, R. Fujimoto, Y.-B. Lin, "A case study in simulating PCS
 * networks using Time Warp", 1995). Its `reverse` is written by hand:
 *
 *     what `forward` did                    how `reverse` knows
 *     counted up, took a channel            `lp.event.bits` says which branches were taken
 *     overwrote the occupancy integral      the old values are in the message
 *     drew, sent                            the engine undoes draws and sends
 */
import { float, int } from '../../model/option.ts';
import { defineModel } from '../define-model.ts';
import { type Lp, ModelError } from '../model.ts';

/** The kinds of events. */
const NEW_CALL = 0;
const HAND_OFF = 1;
/** A channel becomes free: its call ends, or moves to a neighbour. */
const END = 2;
const MOVE = 3;

/** Bits that `forward` leaves for `reverse`. */
const TOOK_CHANNEL = 1;
const NEW_PEAK = 2;

const state = {
  /** Channels in use, and the most that ever were. */
  busy: 'u16',
  peak: 'u16',
  /** Calls begun here, and those of them for which no channel was free. */
  calls: 'u32',
  blocked: 'u32',
  /** Calls that came from a neighbour, and those of them for which no channel was free. */
  handOffs: 'u32',
  dropped: 'u32',
  completed: 'u32',
  /** Integral of `busy` over time, up to `since`. */
  occupancy: 'f64',
  since: 'f64',
} as const;

const message = {
  kind: 'u8',
  /** HAND_OFF: how long the call still lasts. */
  remaining: 'f64',
  /** Values that `forward` overwrote. */
  oldOccupancy: 'f64',
  oldSince: 'f64',
} as const;

interface Params {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly betweenCalls: number;
  readonly duration: number;
  readonly moves: boolean;
  readonly leastDwell: number;
  readonly extraDwell: number;
}

type Cell = Lp<typeof state, typeof message, Params>;

function scheduleCall(lp: Cell): void {
  lp.send(lp.id, lp.exponential(lp.params.betweenCalls)).kind = NEW_CALL;
}

/** One of the four neighbours on the grid, which wraps around. */
function neighbour(lp: Cell): number {
  const { width, height } = lp.params;
  const x = lp.id % width;
  const y = (lp.id - x) / width;
  switch (lp.integer(0, 3)) {
    case 0:
      return y * width + ((x + 1) % width);
    case 1:
      return y * width + ((x + width - 1) % width);
    case 2:
      return ((y + 1) % height) * width + x;
    default:
      return ((y + height - 1) % height) * width + x;
  }
}

/** Gives a call a channel, if one is free, until it ends or moves on. Returns whether one was free. */
function connect(lp: Cell, remaining: number): boolean {
  const { state: s, params: p } = lp;
  if (s.busy === p.channels) return false;
  lp.event.bits |= TOOK_CHANNEL;
  s.busy++;
  if (s.busy > s.peak) {
    s.peak = s.busy;
    lp.event.bits |= NEW_PEAK;
  }
  const dwell = p.moves ? p.leastDwell + lp.exponential(p.extraDwell) : Infinity;
  if (remaining <= dwell) {
    lp.send(lp.id, remaining).kind = END;
  } else {
    // The neighbour is informed in advance: this is the model's lookahead.
    lp.send(lp.id, dwell).kind = MOVE;
    const handOff = lp.send(neighbour(lp), dwell);
    handOff.kind = HAND_OFF;
    handOff.remaining = remaining - dwell;
  }
  return true;
}

/** Undoes `connect`, except for draws and sends. */
function disconnect(lp: Cell): boolean {
  const { state: s, event } = lp;
  if ((event.bits & TOOK_CHANNEL) === 0) return false;
  if ((event.bits & NEW_PEAK) !== 0) s.peak--;
  s.busy--;
  return true;
}

export default defineModel({
  name: 'pcs',
  help: 'personal communication service: cells, channels, calls and hand-offs',
  end: 1000,
  lookahead: 0.25,
  options: {
    width: int(16, 'cells along a row of the grid', { min: 2, max: 32768 }),
    height: int(16, 'rows of the grid', { min: 2, max: 32768 }),
    channels: int(10, 'channels per cell', { min: 1, max: 65535 }),
    arrival: float(2, 'new calls per minute and cell', { min: Number.MIN_VALUE }),
    duration: float(3, 'mean length of a call', { min: Number.MIN_VALUE, unit: 'minutes' }),
    dwell: float(5, 'mean time in a cell, lookahead included; 0: nobody moves', {
      min: 0,
      unit: 'minutes',
    }),
  },
  lps: (o) => o.width * o.height,
  prepare(o, { lookahead }): Params {
    const moves = o.dwell > 0;
    if (moves && o.dwell < lookahead) {
      throw new ModelError(
        `--dwell=${o.dwell} is less than --lookahead=${lookahead}: the mean includes the lookahead`,
      );
    }
    return {
      width: o.width,
      height: o.height,
      channels: o.channels,
      betweenCalls: 1 / o.arrival,
      duration: o.duration,
      moves,
      leastDwell: lookahead,
      extraDwell: o.dwell - lookahead,
    };
  },
  state,
  message,
  init: scheduleCall,
  forward(lp, m) {
    const { state: s, now } = lp;
    m.oldOccupancy = s.occupancy;
    m.oldSince = s.since;
    s.occupancy += s.busy * (now - s.since);
    s.since = now;
    switch (m.kind) {
      case NEW_CALL:
        s.calls++;
        if (!connect(lp, lp.exponential(lp.params.duration))) s.blocked++;
        scheduleCall(lp);
        break;
      case HAND_OFF:
        s.handOffs++;
        if (!connect(lp, m.remaining)) s.dropped++;
        break;
      case END:
        s.completed++;
        s.busy--;
        break;
      case MOVE:
        s.busy--;
        break;
    }
  },
  reverse(lp, m) {
    const s = lp.state;
    switch (m.kind) {
      case NEW_CALL:
        if (!disconnect(lp)) s.blocked--;
        s.calls--;
        break;
      case HAND_OFF:
        if (!disconnect(lp)) s.dropped--;
        s.handOffs--;
        break;
      case END:
        s.busy++;
        s.completed--;
        break;
      case MOVE:
        s.busy++;
        break;
    }
    s.since = m.oldSince;
    s.occupancy = m.oldOccupancy;
  },
  instrument: {
    sample: {
      fields: {
        busy: 'u32',
        calls: 'u32',
        blocked: 'u32',
        handOffs: 'u32',
        dropped: 'u32',
        completed: 'u32',
        channelMinutes: 'f64',
      },
      fill(lp, data) {
        const s = lp.state;
        data.busy = s.busy;
        data.calls = s.calls;
        data.blocked = s.blocked;
        data.handOffs = s.handOffs;
        data.dropped = s.dropped;
        data.completed = s.completed;
        data.channelMinutes = s.occupancy + s.busy * (lp.now - s.since);
      },
    },
    traceEvent: {
      // The state is not printed: when an event commits, the state may be ahead of it.
      fields: { kind: 'u8', connected: 'u8', remaining: 'f32' },
      fill(lp, m, data) {
        data.kind = m.kind;
        data.connected = lp.event.bits & TOOK_CHANNEL;
        data.remaining = m.remaining;
      },
    },
  },
  final(lp, results) {
    const s = lp.state;
    const occupancy = s.occupancy + s.busy * (lp.end - s.since);
    results.add('calls', s.calls);
    results.add('blocked', s.blocked);
    results.add('handOffs', s.handOffs);
    results.add('dropped', s.dropped);
    results.add('completed', s.completed);
    results.add('inProgress', s.busy);
    results.add('channelMinutes', occupancy);
    results.max('busyChannels', s.peak);
    results.row('cells', {
      calls: s.calls,
      blocked: s.blocked,
      handOffs: s.handOffs,
      dropped: s.dropped,
      completed: s.completed,
      meanBusyChannels: lp.end > 0 ? occupancy / lp.end : 0,
    });
  },
});
