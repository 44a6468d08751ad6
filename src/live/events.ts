/**
 * Followers by server-sent events, where a WebSocket does not get through: `facts` with JSON, and `frame` with the
 * bytes of a WebSocket's message in base64.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { message } from '../view/message.ts';
import type { Exhibit } from './exhibit.ts';
import type { Refusal } from './net/asked.ts';
import type { Followers } from './net/followers.ts';

/** Milliseconds between comments, so that proxies and pages see that the connection lives. */
const HEARTBEAT_MS = 15_000;

function frameEvent(stream: number, frame: Uint8Array, left: number): string {
  return `event: frame\ndata: ${Buffer.from(message(stream, frame, left)).toString('base64')}\n\n`;
}

interface EventsOptions {
  readonly exhibit: Exhibit;
  /** Tables whose samples are not wanted. */
  readonly without: ReadonlySet<string>;
  readonly followers: Followers;
}

/** Answers a request with all that the exhibit has and gets; else says why not. */
export function followByEvents(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { exhibit, without, followers }: EventsOptions,
): Refusal | null {
  const following = { socket, waiting: () => response.writableLength };
  const leave = followers.take(following);
  if (leave === null) return { status: 503, line: 'too many pages follow' };
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS);
  const stop = exhibit.follow({
    facts: (facts) =>
      response.write(`event: facts\ndata: ${JSON.stringify({ kind: 'facts', facts })}\n\n`),
    wants: (table) => !without.has(table),
    frame: (number, frame, must, left) => {
      if (!followers.hasRoom(following, must)) return false;
      response.write(frameEvent(number, frame, left));
      return true;
    },
  });
  const end = () => {
    clearInterval(heartbeat);
    stop();
    leave();
  };
  if (response.destroyed) end();
  else response.once('close', end);
  return null;
}
