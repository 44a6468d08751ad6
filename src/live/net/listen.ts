/** Listening on a port, and the link to it. */
import type { Server } from 'node:http';
import { TriscopeError } from '../../model/error.ts';

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

/** A link to `path`, with the token where one is given. */
export function linkTo(host: string, port: number, path: string, token: string | null): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const base = `http://${name.includes(':') ? `[${name}]` : name}:${port}${path}`;
  return token === null ? base : `${base}?token=${token}`;
}
