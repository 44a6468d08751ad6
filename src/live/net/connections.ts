/**
 * Connections of a server, limited in number. If there are too many, idle ones are ended: first those that have not sent
 * a whole request, the oldest first; then those that were answered and stay open.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CONNECTIONS } from './limits.ts';

interface Connection {
  /** Requests that are being answered. */
  busy: number;
  /** Whether one was answered. */
  answered: boolean;
  /** Belongs to a follower: counted among those. */
  follows: boolean;
}

export class Connections {
  /** Connections that were ended for lack of room. */
  evicted = 0;
  /** In the order in which they came. */
  private readonly all = new Map<Socket, Connection>();

  /** Watches over a server's. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.came(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const one = this.all.get(request.socket);
      if (one === undefined) return;
      one.busy++;
      response.once('close', () => {
        one.busy--;
        one.answered = true;
      });
    });
  }

  /** Tells that a connection has become a follower's. */
  follows(socket: Socket): void {
    const one = this.all.get(socket);
    if (one !== undefined) one.follows = true;
  }

  private came(socket: Socket): void {
    // A reset of a connection without a listener would be an uncaught exception.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.all.delete(socket));
    this.all.set(socket, { busy: 0, answered: false, follows: false });
    if (this.all.size > CONNECTIONS.most) this.makeRoom();
  }

  private makeRoom(): void {
    this.evicted++;
    let idle: Socket | null = null;
    for (const [socket, { busy, answered, follows }] of this.all) {
      if (busy > 0 || follows) continue;
      if (!answered) {
        socket.destroy();
        // Its event comes later, and more connections may come before.
        this.all.delete(socket);
        return;
      }
      idle ??= socket;
    }
    const last = idle ?? [...this.all.keys()].at(-1);
    if (last === undefined) return;
    last.destroy();
    this.all.delete(last);
  }
}
