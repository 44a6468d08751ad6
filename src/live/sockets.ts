/** Followers by WebSocket: facts as text, frames as binary messages. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Access } from './access.ts';
import type { LiveBus } from './bus.ts';
import type { Facts } from './facts.ts';

export const LIVE_PATH = '/live';

/** Bytes waiting for a follower beyond which data frames are left out. */
const MOST_WAITING = 8 * 1024 * 1024;
/** Followers say nothing of length. */
const MOST_SAID = 1024;
/** Milliseconds between looks at whether followers are still there. */
const HEARTBEAT = 15_000;
/** Bytes before a frame: u32 number of its stream, u32 0. Frames stay aligned to 8. */
const PREFIX = 8;

function message(stream: number, frame: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(PREFIX + frame.length);
  new DataView(bytes.buffer).setUint32(0, stream, true);
  bytes.set(frame, PREFIX);
  return bytes;
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function serve(socket: WebSocket, bus: LiveBus): void {
  const stop = bus.follow({
    facts: (facts: Facts) => socket.send(JSON.stringify({ kind: 'facts', facts })),
    frame: (stream, frame, must) => {
      // The past goes out whole; a follower that falls behind loses data, never definitions.
      if (!must && socket.bufferedAmount > MOST_WAITING) return false;
      socket.send(message(stream, frame));
      return true;
    },
  });
  socket.on('close', stop);
  socket.on('error', stop);
}

/** Lets pages follow `bus` on this server. Call the result to send them away. */
export function followBySocket(server: Server, bus: LiveBus, access: Access): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MOST_SAID,
    perMessageDeflate: false,
  });
  const alive = new WeakSet<WebSocket>();
  const heartbeat = setInterval(() => {
    for (const socket of sockets.clients) {
      if (!alive.has(socket)) socket.terminate();
      alive.delete(socket);
      socket.ping();
    }
  }, HEARTBEAT);
  heartbeat.unref();
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { host, origin, cookie, authorization } = request.headers;
    const credentials = { host, origin, cookie, authorization };
    if (!access.isOurs(credentials)) return refuse(socket, '403 Forbidden');
    if (!access.isKnown(credentials)) return refuse(socket, '401 Unauthorized');
    if (request.url?.split('?')[0] !== LIVE_PATH) return refuse(socket, '404 Not Found');
    sockets.handleUpgrade(request, socket, head, (client) => {
      alive.add(client);
      client.on('pong', () => alive.add(client));
      serve(client, bus);
    });
  };
  server.on('upgrade', upgrade);
  return () => {
    clearInterval(heartbeat);
    server.off('upgrade', upgrade);
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}
