/** The dashboard's server: page, API and live frames, on loopback unless told otherwise. */
import type { Server } from 'node:http';
import { basename, resolve } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { Access } from './access.ts';
import { api } from './api/index.ts';
import { ApiError } from './api/route.ts';
import type { LiveBus } from './bus.ts';
import { followByEvents } from './events.ts';
import { Exhibit } from './exhibit.ts';
import { Heavy } from './heavy.ts';
import { EVENTS_PATH, followQuery } from './message.ts';
import { pageFiles } from './page.ts';
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
  close(): Promise<void>;
}

/** The server cannot be: the port is taken, the address is not this machine's. */
export class ServeError extends Error {
  override readonly name = 'ServeError';
}

const LOOPBACK = '127.0.0.1';

/** Everything from this server, nothing inline, nobody may frame it. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

type Find = (id: string | null) => Exhibit | null;

function application(access: Access, routes: Hono, find: Find, closed: AbortSignal): Hono {
  const files = pageFiles();
  const app = new Hono();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    const credentials = {
      host: c.req.header('host'),
      origin: c.req.header('origin'),
      cookie: c.req.header('cookie'),
      authorization: c.req.header('authorization'),
    };
    if (!access.isOurs(credentials)) {
      return c.text(
        'This server answers to its own name only: use the link that it printed.\n',
        403,
      );
    }
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return c.text('GET only\n', 405);
    const token = c.req.query('token');
    if (token !== undefined && access.isToken(token)) {
      c.header('Set-Cookie', access.setCookie);
      return c.redirect('/', 303);
    }
    if (!access.isKnown(credentials)) {
      return c.text('Use the link that the server printed: it holds the token.\n', 401);
    }
    return next();
  });
  app.route('/api', routes);
  app.get(EVENTS_PATH, (c) => {
    const { recording, without } = followQuery(new URL(c.req.url).searchParams);
    const exhibit = find(recording);
    if (exhibit === null) return c.text('no such recording\n', 404);
    return followByEvents(c, exhibit, without, closed);
  });
  app.get('*', (c) => {
    const file = files.get(c.req.path === '/' ? '/index.html' : c.req.path);
    if (file !== undefined) return c.body(file.bytes, 200, { 'Content-Type': file.type });
    if (c.req.path === '/') return c.text('The page is not built: npm run build\n', 404);
    return c.text('no such page\n', 404);
  });
  return app;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE'
          ? 'is taken; give another with --port, or 0 for any'
          : error.code === 'EACCES'
            ? 'needs more rights; give one above 1023 with --port'
            : error.message;
      reject(new ServeError(`port ${port} of ${host} ${reason}`));
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
  const heavy = new Heavy();
  const closing = new AbortController();
  const find: Find = (id) =>
    id === null ? exhibits[0] : (exhibits.find((one) => one.id === id) ?? null);
  const routes = api({
    shown: async (c) => {
      const id = c.req.query('recording') ?? null;
      const found = find(id);
      if (found === null) {
        throw new ApiError(404, `there is no recording ${JSON.stringify(id)}: see /api/recordings`);
      }
      return found.now();
    },
    all: () => Promise.all(exhibits.map((one) => one.now())),
    heavy: (work) => heavy.run(work),
  });
  const server = createAdaptorServer({
    fetch: application(access, routes, find, closing.signal).fetch,
  }) as Server;
  const actual = await listen(server, port, host);
  const stop = followBySocket(server, find, access);
  return {
    url: linkTo(host, actual, access.token),
    port: actual,
    close: async () => {
      stop();
      closing.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(exhibits.map((one) => one.close()));
    },
  };
}
