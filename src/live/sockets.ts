/** Followers by WebSocket: facts as text, frames as binary messages. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { followQuery, LIVE_PATH, message } from '../view/message.ts';
import type { Exhibit, Find } from './exhibit.ts';
import type { AskedUrl, Refusal } from './net/asked.ts';
import type { Followers, Following } from './net/followers.ts';
import { FOLLOWERS } from './net/limits.ts';

/** Milliseconds between looks at whether followers are still there. */
const HEARTBEAT_MS = 15_000;
/** Milliseconds for which frames are gathered: each time that some come, a page’s process wakes up. */
const GATHER_MS = 250;

interface SocketsOptions {
  readonly find: Find;
  readonly followers: Followers;
}

export class Sockets {
  private readonly find: Find;
  private readonly followers: Followers;
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: FOLLOWERS.said,
    perMessageDeflate: false,
  });
  private readonly alive = new WeakSet<WebSocket>();
  private readonly heartbeat: NodeJS.Timeout;

  constructor({ find, followers }: SocketsOptions) {
    this.find = find;
    this.followers = followers;
    this.heartbeat = setInterval(() => this.look(), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  /** Lets who asks follow what is shown; else why not. */
  follow(request: IncomingMessage, socket: Duplex, head: Buffer, asked: AskedUrl): Refusal | null {
    const { recording, without } = followQuery(asked.query);
    const exhibit = asked.path === LIVE_PATH ? this.find(recording) : null;
    if (exhibit === null) return { status: 404, line: 'no such recording' };
    let client: WebSocket | null = null;
    const following: Following = {
      socket: socket as Socket,
      waiting: () => client?.bufferedAmount ?? 0,
    };
    const leave = this.followers.take(following);
    if (leave === null) return { status: 503, line: 'too many pages follow' };
    socket.once('close', leave);
    this.server.handleUpgrade(request, socket, head, (opened) => {
      client = opened;
      this.alive.add(opened);
      opened.on('pong', () => this.alive.add(opened));
      this.serve(opened, following, exhibit, without);
    });
    return null;
  }

  close(): void {
    clearInterval(this.heartbeat);
    for (const socket of this.server.clients) socket.terminate();
    this.server.close();
  }

  private serve(
    socket: WebSocket,
    following: Following,
    exhibit: Exhibit,
    without: ReadonlySet<string>,
  ): void {
    // Before anything is sent: what cannot be is an error of the socket.
    socket.on('error', () => socket.terminate());
    let timer: NodeJS.Timeout | null = null;
    const gather = () => {
      if (timer !== null) return;
      following.socket.cork();
      timer = setTimeout(() => {
        timer = null;
        following.socket.uncork();
      }, GATHER_MS);
    };
    const stop = exhibit.follow({
      facts: (facts) => socket.send(JSON.stringify({ kind: 'facts', facts })),
      wants: (table) => !without.has(table),
      frame: (stream, frame, must, left) => {
        // The past goes out whole; a follower that falls behind loses data, never definitions.
        if (!this.followers.hasRoom(following, must)) return false;
        gather();
        socket.send(message(stream, frame, left));
        return true;
      },
    });
    socket.on('close', stop);
    if (socket.readyState !== socket.OPEN) stop();
  }

  private look(): void {
    for (const socket of this.server.clients) {
      if (!this.alive.has(socket)) socket.terminate();
      this.alive.delete(socket);
      socket.ping();
    }
  }
}
