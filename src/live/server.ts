/** The dashboard's server: page, API and live frames, on loopback unless told otherwise. */
import type { Server } from 'node:http';
import { basename, resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Access } from './access.ts';
import { application } from './application.ts';
import type { LiveBus } from './bus.ts';
import { Exhibit, type Find } from './exhibit.ts';
import type { Facts } from './facts.ts';
import { Seats } from './seats.ts';
import { serverMetrics } from './server-metrics.ts';
import { followBySocket } from './sockets.ts';

export interface ServerOptions {
  /** A live run to follow. */
  readonly bus?: LiveBus;
  /** Path of a recording to show. With a bus too: what the run is being recorded into. */
  readonly recording?: string;
  /** Paths of more recordings. */
  readonly recordings?: readonly string[];
  /** 0, or nothing: any that is free. */
  readonly port?: number;
  /** Address to listen on; 127.0.0.1 where nothing is said. Others need the token of the result's `url`. */
  readonly host?: string;
}

export interface LiveServer {
  /** Link to the page, with the token where one is needed. */
  readonly url: string;
  readonly port: number;
  /** Says more of the first recording than is written in it. */
  update(facts: Partial<Facts>): void;
  close(): Promise<void>;
}

/** The server cannot be: the port is taken, the address is not this machine's. */
export class ServeError extends Error {
  override readonly name = 'ServeError';
}

const LOOPBACK = '127.0.0.1';

/** Who sends a request slowly, or a large one, does not hold a connection for long. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
};
const MOST_CONNECTIONS = 1024;

const noAddress = (_port: number, host: string) =>
  `${host} is no address of this machine; give one with --host, or 0.0.0.0 for all`;

/** Why the system does not let us listen, and the mend. */
const REFUSALS: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port, host) =>
    `port ${port} of ${host} is taken; give another with --port, or 0 for any`,
  EACCES: (port, host) =>
    `port ${port} of ${host} needs more rights; give one above 1023 with --port`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
};

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = REFUSALS[error.code ?? ''];
      reject(new ServeError(why?.(port, host) ?? `port ${port} of ${host}: ${error.message}`));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function linkTo(host: string, port: number, token: string | null): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const base = `http://${name.includes(':') ? `[${name}]` : name}:${port}/`;
  return token === null ? base : `${base}?token=${token}`;
}

/** Ids of recordings: their folders' names, numbered where taken. */
function idsOf(paths: readonly string[]): string[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const name = basename(resolve(path)).replace(/\.tri$/, '');
    let id = name;
    for (let k = 2; taken.has(id); k++) id = `${name}-${k}`;
    taken.add(id);
    return id;
  });
}

/**
 * Starts the dashboard's server.
 * @throws ServeError; InputError where a recording is none
 */
export async function startServer(options: ServerOptions): Promise<LiveServer> {
  const { bus = null, port = 0, host = LOOPBACK } = options;
  const paths = [
    ...(options.recording === undefined ? [] : [options.recording]),
    ...(options.recordings ?? []),
  ];
  const ids = idsOf(paths);
  if (bus === null && paths.length === 0)
    throw new ServeError('neither a run nor a recording to show');
  // Says at once what cannot be shown.
  const exhibits: Exhibit[] = [];
  for (const [k, path] of paths.entries()) {
    exhibits.push(await Exhibit.open(ids[k], k === 0 ? bus : null, path));
  }
  if (bus !== null && paths.length === 0) exhibits.push(await Exhibit.open('live', bus, null));
  const access = new Access(host);
  const closing = new AbortController();
  const find: Find = (id) =>
    id === null ? exhibits[0] : (exhibits.find((one) => one.id === id) ?? null);
  const seats = new Seats();
  const app = application({
    access,
    find,
    exhibits,
    seats,
    closed: closing.signal,
    metrics: serverMetrics(exhibits, seats),
  });
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: LIMITS }) as Server;
  server.maxConnections = MOST_CONNECTIONS;
  const actual = await listen(server, port, host);
  const stop = followBySocket(server, { find, access, seats });
  return {
    url: linkTo(host, actual, access.token),
    port: actual,
    update: (facts) => exhibits[0].update(facts),
    close: async () => {
      stop();
      closing.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(exhibits.map((one) => one.close()));
    },
  };
}
