/**
 * Followers by server-sent events, where a WebSocket does not get through: `facts` with JSON, and `frame` with the
 * bytes of a WebSocket's message in base64.
 */
import type { Context } from 'hono';
import { stream } from 'hono/streaming';
import type { Exhibit } from './exhibit.ts';
import { MOST_WAITING, message } from './message.ts';

/** Milliseconds between comments, so that proxies and pages see that the connection lives. */
const HEARTBEAT = 15_000;

function frameEvent(stream: number, frame: Uint8Array, left: number): string {
  return `event: frame\ndata: ${Buffer.from(message(stream, frame, left)).toString('base64')}\n\n`;
}

/** Answers a request with all that `exhibit` has and gets. `closed`: when the server goes. */
export interface EventsOptions {
  /** Tables whose samples are not wanted. */
  readonly without: ReadonlySet<string>;
  /** When the server goes. */
  readonly closed: AbortSignal;
  /** Called when the follower has gone. */
  readonly leave: () => void;
}

export function followByEvents(
  c: Context,
  exhibit: Exhibit,
  { without, closed, leave }: EventsOptions,
): Response {
  c.header('Content-Type', 'text/event-stream');
  c.header('X-Accel-Buffering', 'no');
  return stream(c, async (out) => {
    let waiting = 0;
    const send = (text: string) => {
      waiting += text.length;
      // In order: a stream's writes are. One that fails has no follower any more.
      void out.write(text).then(
        () => {
          waiting -= text.length;
        },
        () => {},
      );
    };
    await new Promise<void>((resolve) => {
      const heartbeat = setInterval(() => send(':\n\n'), HEARTBEAT);
      const stop = exhibit.follow({
        facts: (facts) =>
          send(`event: facts\ndata: ${JSON.stringify({ kind: 'facts', facts })}\n\n`),
        wants: (table) => !without.has(table),
        frame: (number, frame, must, left) => {
          if (!must && waiting > MOST_WAITING) return false;
          send(frameEvent(number, frame, left));
          return true;
        },
      });
      const end = () => {
        clearInterval(heartbeat);
        stop();
        leave();
        resolve();
      };
      out.onAbort(end);
      closed.addEventListener('abort', end, { once: true });
    });
  });
}
