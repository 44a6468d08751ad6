/**
 * Entry of the controller's thread: samples at multiples of the period on the monotonic clock, and looks for new processes when
 * the main thread rings the bell.
 */
import { setPriority } from 'node:os';
import { threadId } from '../../os/affinity.ts';
import { sleepUntil } from '../../os/raw-calls.ts';
import { doTask, type Say } from '../../os/thread.ts';
import { setV8Flag } from '../../os/v8-flags.ts';
import { loadAgent } from '../agents/index.ts';
import { clockOffset } from '../clock.ts';
import { Controller } from './controller.ts';
import { Deadlines, type Punctuality } from './deadlines.ts';
import { BELL, ENDED, EXIT_CODE, EXIT_SIGNAL, STARTED, WATCHED } from './orders.ts';
import type { ControllerSettings } from './settings.ts';

export interface ControllerTask {
  readonly settings: ControllerSettings;
  /** See orders.ts. */
  readonly orders: Int32Array;
  /** Names of signals by number. */
  readonly signals: Readonly<Record<number, string>>;
}

export type ControllerSaid =
  | 'ready'
  /** Time zero is set and a first sample taken: the command may start. */
  | 'begun'
  | { readonly warning: string }
  | { readonly status: string };

/** Nice value, if permitted: higher priority than ordinary work. */
const PRIORITY = -10;
/** ms between lines of a live view. */
const SAY_EVERY_MS = 1000;
const SHORTEST_SECONDS = 0.0001;
/** ms after which the bell is noticed at the latest. Shorter sleeps use only the kernel's timer, which costs half as much. */
const DEAF_MS = 20;

const offset = clockOffset();
/** ns of CLOCK_MONOTONIC. */
const now = () => performance.now() * 1e6 + offset;

function raisePriority(): void {
  const id = threadId();
  if (id === null) return;
  try {
    // On Linux this applies to this thread alone.
    setPriority(id, PRIORITY);
  } catch {
    // Without permission the priority stays unchanged.
  }
}

async function main(
  { settings, orders, signals }: ControllerTask,
  say: Say<ControllerSaid>,
): Promise<Punctuality> {
  const kind = await loadAgent(settings.agent);
  const deadlines = new Deadlines(Math.max(SHORTEST_SECONDS, settings.period ?? kind.period));
  const controller = new Controller(settings, kind, deadlines, (warning) => say({ warning }));
  raisePriority();
  say('ready');
  const isDeaf = deadlines.period * 1000 <= DEAF_MS;
  // V8 would compile functions that run a few hundred times a second only after half a minute, and those that run five times
  // to no use. (The flags apply to the whole process.)
  if (isDeaf && !settings.own) {
    setV8Flag('interrupt-budget', 10_000);
    setV8Flag('invocation-count-for-turbofan', 450);
  }
  let heard = Atomics.load(orders, BELL);
  while (Atomics.load(orders, STARTED) === 0 && Atomics.load(orders, ENDED) === 0) {
    Atomics.wait(orders, BELL, heard);
    heard = Atomics.load(orders, BELL);
  }
  let said = performance.now();
  controller.begin(now());
  say('begun');
  deadlines.start(performance.now());
  const clock = performance;
  controller.watched = Atomics.load(orders, WATCHED) === 1;
  while (Atomics.load(orders, ENDED) === 0) {
    const wait = deadlines.wait(clock.now());
    if (wait > 0 && !(isDeaf && sleepUntil(deadlines.next * 1e6 + offset))) {
      Atomics.wait(orders, BELL, heard, wait);
    }
    const rung = Atomics.load(orders, BELL);
    if (rung !== heard) {
      heard = rung;
      if (Atomics.load(orders, ENDED) === 1) break;
      if (controller.look(now())) controller.sample(now());
    }
    const woken = clock.now();
    if (deadlines.wait(woken) > 0) continue;
    deadlines.take(woken);
    controller.sample(woken * 1e6 + offset);
    if (!settings.live || woken - said < SAY_EVERY_MS) continue;
    said = woken;
    say({ status: controller.status(now()) });
  }
  const signal = signals[Atomics.load(orders, EXIT_SIGNAL)];
  const code = settings.attached
    ? 'not known: attached'
    : `code ${Atomics.load(orders, EXIT_CODE)}`;
  controller.finish(now(), {
    exit: signal === undefined ? code : `signal ${signal}`,
    incomplete: signal === undefined ? null : `the application was ended by ${signal}`,
  });
  return deadlines.punctuality;
}

void doTask(main);
