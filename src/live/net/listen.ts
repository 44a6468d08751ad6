/** Listening on a port, and the link to it. */
import { lstatSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { TriscopeError } from '../../model/error.ts';
import { canTellPeers } from '../../os/peer.ts';

/**
 * The server cannot be: the port is taken, the address is not this machine's.
 * @example
 * ```ts
 * import { ServeError, startServer } from 'triscope/live';
 *
 * const server = await startServer({ recording: 'run.tri', port: 8080 }).catch((error: unknown) => {
 *   if (error instanceof ServeError) return null; // the port is taken
 *   throw error;
 * });
 * await server?.close();
 * ```
 */
export class ServeError extends TriscopeError {
  override readonly name = 'ServeError';
}

const noAddress = (_port: number, host: string) =>
  `${host} is not an address of this machine; give one with --host, or 0.0.0.0 for all`;

/** Why the system does not let us listen, and the mend. */
const REFUSALS: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port, host) =>
    `port ${port} of ${host} is taken; give another with --port, or 0 for any`,
  EACCES: (port, host) =>
    `port ${port} of ${host} needs more rights; give one above 1023 with --port`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
};

/** Resolves to the port. @throws ServeError */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const why = REFUSALS[error.code ?? ''];
      reject(new ServeError(why?.(port, host) ?? `port ${port} of ${host}: ${error.message}`));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      // Such as too many open files when somebody connects: that one is not served, others are.
      server.on('error', () => {});
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/**
 * Listens on a Unix socket that every user of this machine may connect to. One that a server which is gone has left is
 * replaced. @throws ServeError
 */
export async function listenAt(server: Server, path: string): Promise<void> {
  if (!canTellPeers()) throw new ServeError('a socket for users needs Linux, and koffi');
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSocket()) {
    throw new ServeError(`${path} exists and is not a socket; give another path with --socket`);
  }
  if (there !== undefined) {
    if (await answers(path)) throw new ServeError(`${path}: another server is listening on it`);
    unlinkSync(path);
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => reject(new ServeError(`${path}: ${message}`)));
    server.listen({ path, readableAll: true, writableAll: true }, () => {
      server.removeAllListeners('error').on('error', () => {});
      resolve();
    });
  });
}

const answers = (path: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => socket.destroy()).once('close', (failed) => resolve(!failed));
    socket.once('error', () => {});
  });

/** A link to `path`, with the token where one is given. */
export function linkTo(host: string, port: number, path: string, token: string | null): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const base = `http://${name.includes(':') ? `[${name}]` : name}:${port}${path}`;
  return token === null ? base : `${base}?token=${token}`;
}
