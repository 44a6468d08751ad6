/** The thread of the dashboard's server. A run's samples come to it as frames, and go on from a bus of its own. */

import type { PageFacts } from '../view/facts/run.ts';
import { LiveBus } from './bus.ts';
import { runInThread } from './net/in-thread.ts';
import type { Shared } from './net/thread.ts';
import { type PageOptions, servePage } from './page-server.ts';

export interface PageTask extends Omit<PageOptions, 'bus'> {
  /** Of a run to follow; null: none. */
  readonly facts: PageFacts | null;
}

export type PageMessage =
  /** Of the run. */
  | { readonly kind: 'facts'; readonly facts: PageFacts }
  /** Beyond what is recorded. */
  | { readonly kind: 'update'; readonly facts: Partial<PageFacts> }
  | {
      readonly kind: 'frame';
      readonly stream: number;
      readonly frame: Uint8Array;
      /** Frames with samples that were left out before it, in all. */
      readonly left: number;
    };

/** Milliseconds between counts, which whoever started the thread may read. */
const COUNT_MS = 50;

/** Feeds a bus with what comes. */
function mirror(bus: LiveBus) {
  const streams = new Map<number, ReturnType<LiveBus['stream']>>();
  let told = 0;
  return ({ stream, frame, left }: Extract<PageMessage, { kind: 'frame' }>) => {
    const send = streams.get(stream) ?? bus.stream();
    streams.set(stream, send);
    send([frame], left - told);
    told = left;
  };
}

await runInThread<PageMessage, PageTask>(async ({ facts, ...options }, shared: Shared) => {
  const bus = facts === null ? null : new LiveBus(facts);
  const server = await servePage({ ...options, bus });
  const frame = bus === null ? null : mirror(bus);
  const count = () => {
    if (bus !== null) shared.count(bus.followers, bus.skipped);
  };
  const timer = setInterval(count, COUNT_MS);
  timer.unref();
  return {
    ...server,
    take: (message) => {
      if (message.kind === 'facts') bus?.update(message.facts);
      else if (message.kind === 'update') server.update(message.facts);
      else frame?.(message);
      count();
    },
    close: async () => {
      clearInterval(timer);
      count();
      await server.close();
    },
  };
});
