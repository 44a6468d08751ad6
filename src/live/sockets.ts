/** Followers by WebSocket: facts as text, frames as binary messages. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Access } from './access.ts';
import type { Exhibit, Find } from './exhibit.ts';
import { followQuery, LIVE_PATH, MOST_WAITING, message } from './message.ts';
import type { Seats } from './seats.ts';

/** Followers say nothing of length. */
const MOST_SAID = 1024;
/** Milliseconds between looks at whether followers are still there. */
const HEARTBEAT = 15_000;

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function serve(socket: WebSocket, exhibit: Exhibit, without: ReadonlySet<string>): void {
  const stop = exhibit.follow({
    facts: (facts) => socket.send(JSON.stringify({ kind: 'facts', facts })),
    wants: (table) => !without.has(table),
    frame: (stream, frame, must, left) => {
      // The past goes out whole; a follower that falls behind loses data, never definitions.
      if (!must && socket.bufferedAmount > MOST_WAITING) return false;
      socket.send(message(stream, frame, left));
      return true;
    },
  });
  socket.on('close', stop);
  socket.on('error', stop);
}

/** Lets pages follow what is shown on this server. Call the result to send them away. */
export function followBySocket(
  server: Server,
  { find, access, seats }: { find: Find; access: Access; seats: Seats },
): () => void {
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
    const [path, query = ''] = (request.url ?? '').split('?');
    const { recording, without } = followQuery(new URLSearchParams(query));
    const exhibit = path === LIVE_PATH ? find(recording) : null;
    if (exhibit === null) return refuse(socket, '404 Not Found');
    const leave = seats.take();
    if (leave === null) return refuse(socket, '503 Service Unavailable');
    socket.once('close', leave);
    sockets.handleUpgrade(request, socket, head, (client) => {
      alive.add(client);
      client.on('pong', () => alive.add(client));
      serve(client, exhibit, without);
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
