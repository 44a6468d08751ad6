/** All limits of the servers: of connections, and of each route. docs/live.md has the same table. */

import { MIB } from '../../model/units.ts';

/** Of connections, of the page's server and of those of metrics. Times in milliseconds. */
export const CONNECTIONS = {
  /** At a time. */
  most: 512,
  /** Until all headers are there; until all of a request is. */
  headers: 5000,
  request: 15_000,
  /** Between requests; and without a byte in either direction. */
  idle: 10_000,
  silence: 60_000,
  /** How often these times are checked. */
  look: 1000,
  headerBytes: 16 * 1024,
} as const;

/** Requests at a time: so many are answered, so many wait; others are rejected (503). */
export const GATES = {
  /** Taken from memory. */
  told: { running: 64, waiting: 512 },
  /** Computed from samples in memory. */
  drawn: { running: 8, waiting: 256 },
  /** Read from files, by the server's own statements. */
  read: { running: 4, waiting: 128 },
  /** Statements of users. */
  asked: { running: 3, waiting: 64 },
} as const;

export interface RouteLimits {
  readonly gate: keyof typeof GATES;
  /** Until it is answered, including waiting. */
  readonly seconds: number;
  /** Bytes of memory that its work may take besides the recording. */
  readonly memory: number;
  /** Bytes of an answer. */
  readonly answer: number;
  /** Bytes of a request's body. */
  readonly body: number;
}

const limits = (
  gate: keyof typeof GATES,
  seconds: number,
  { memory = 16 * MIB, answer = 16 * MIB, body = 0 },
): RouteLimits => ({ gate, seconds, memory, answer, body });

const TOLD = limits('told', 20, {});
const DRAWN = limits('drawn', 20, { memory: 64 * MIB, answer: 64 * MIB });
/** The first question reads all files. */
const READ = limits('read', 120, { memory: 512 * MIB, answer: 64 * MIB });
/** Seconds of a statement; memory as of `openRecording`. */
export const STATEMENT_SECONDS = 20;
const ASKED = limits('asked', 60, { memory: 512 * MIB, answer: 34 * MIB, body: 64 * 1024 });

/** By path. A route that is not here cannot exist. */
export const LIMITS: Readonly<Record<string, RouteLimits>> = {
  '/api/openapi.json': TOLD,
  '/api/recordings': TOLD,
  '/api/refused': TOLD,
  '/api/facts': TOLD,
  '/api/tables': TOLD,
  '/api/summary': READ,
  '/api/clock': READ,
  '/api/names': READ,
  '/api/compare': READ,
  '/api/series': DRAWN,
  '/api/series/several': DRAWN,
  '/api/query': ASKED,
  '/api/findings': READ,
  '/api/findings/open': READ,
  '/api/heatmap': limits('drawn', 20, { memory: 512 * MIB, answer: 64 * MIB }),
  '/api/heatmap/metrics': DRAWN,
  '/api/breakdown': DRAWN,
  '/api/matrix': READ,
  '/api/cascades': READ,
  '/api/cascades/tree': READ,
  '/api/events/density': READ,
  '/api/events': READ,
  '/api/rollbacks': READ,
  '/api/animation': READ,
  '/api/animation/frames': READ,
  '/api/animation/links': READ,
  '/api/regions': READ,
  '/api/regions/lanes': READ,
  '/api/regions/processes': READ,
  '/api/regions/signal': READ,
  '/api/nodes/series': READ,
  '/api/nodes/suspects': READ,
  '/api/nodes/devices': READ,
  '/api/jobs': ASKED,
  '/api/jobs/sums': ASKED,
  '/api/jobs/hosts': ASKED,
  '/api/job': READ,
  '/metrics': TOLD,
};

/** Files of the page, and paths that do not exist. */
export const OTHERS: RouteLimits = TOLD;

/** Of followers, by WebSocket or server-sent events. */
export const FOLLOWERS = {
  /** At a time. */
  most: 256,
  /** Bytes that may wait for one; beyond, samples are left out. Those of the past come on top when it joins. */
  waiting: 8 * MIB,
  /** Bytes that may wait for one, including definitions and the past; beyond, it is disconnected. */
  waitingAtMost: 48 * MIB,
  /** Bytes that may wait for all; beyond, the one with most is disconnected. */
  waitingInAll: 512 * MIB,
  /** Milliseconds without taking anything of what waits, after which one is disconnected. */
  patience: 30_000,
  /** Most bytes that one may send. */
  said: 1024,
} as const;
