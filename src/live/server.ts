/** The dashboard's server: page, API and live frames, on loopback unless told otherwise. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { Access } from './access.ts';
import { api, EMPTY, type Shown } from './api.ts';
import type { LiveBus } from './bus.ts';
import { pageFiles } from './page.ts';
import { type OpenRecording, openRecording } from './recording-source.ts';
import { followBySocket } from './sockets.ts';

export interface ServerOptions {
  /** A live run to follow. */
  readonly bus?: LiveBus;
  /** Path of a recording to show. With a bus too: what the run is being recorded into. */
  readonly recording?: string;
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

function application(access: Access, routes: Hono): Hono {
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

/**
 * What there is to show: a run by its frames while it goes on, since its files are not whole yet; then, and without a
 * run, its recording.
 */
function shower(bus: LiveBus | undefined, recording: string | undefined): () => Promise<Shown> {
  let opened: Promise<OpenRecording> | null = null;
  return async () => {
    if (bus !== undefined && (recording === undefined || bus.facts.state === 'running')) {
      return { facts: bus.facts, source: EMPTY, live: true };
    }
    if (recording === undefined) throw new ServeError('neither a run nor a recording to show');
    opened ??= openRecording(recording);
    const { facts, store } = await opened;
    return { facts, source: store, live: false };
  };
}

/**
 * Starts the dashboard's server.
 * @throws ServeError; RecordingError where `recording` is none
 */
export async function startServer(options: ServerOptions): Promise<LiveServer> {
  const { bus, recording, port = 0, host = LOOPBACK } = options;
  const now = shower(bus, recording);
  // Says at once what cannot be shown.
  await now();
  const access = new Access(host);
  const routes = api(now);
  const server = createAdaptorServer({ fetch: application(access, routes).fetch }) as Server;
  const actual = await listen(server, port, host);
  const stop = bus === undefined ? () => {} : followBySocket(server, bus, access);
  return {
    url: linkTo(host, actual, access.token),
    port: actual,
    close: () => {
      stop();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
