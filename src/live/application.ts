/** What answers requests: who may ask, what may be asked, and where the answers are. */
import { type Context, Hono } from 'hono';
import type { Access } from './access.ts';
import { api } from './api/index.ts';
import { ApiError } from './api/route.ts';
import { followByEvents } from './events.ts';
import type { Exhibit, Find } from './exhibit.ts';
import { Heavy } from './heavy.ts';
import { EVENTS_PATH, followQuery } from './message.ts';
import type { MetricsText } from './metrics-server.ts';
import { type PageFile, pageFiles } from './page.ts';
import type { Seats } from './seats.ts';

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

/** The only path that takes a body. */
const QUERY_PATH = '/api/query';
/** Bytes of a body, and characters of an address. */
const MOST_BODY = 64 * 1024;
const MOST_ADDRESS = 8 * 1024;

export interface Served {
  readonly access: Access;
  readonly find: Find;
  readonly exhibits: readonly Exhibit[];
  readonly seats: Seats;
  /** When the server goes. */
  readonly closed: AbortSignal;
  readonly metrics: MetricsText;
}

/** The body, if it is not too long. */
async function bodyOf(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BODY) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  // A length is not always said, and not always true.
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size > MOST_BODY) return null;
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** Files named for what they hold never change: browsers keep them, and what they have compiled of them. */
const NAMED = /^\/assets\/.+-[\w-]{8}\.\w+$/;

function fileAnswer(c: Context, { type, bytes, packed }: PageFile): Response {
  if (NAMED.test(c.req.path)) c.header('Cache-Control', 'private, max-age=31536000, immutable');
  c.header('Vary', 'Accept-Encoding');
  const takesGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  if (!takesGzip) return c.body(bytes, 200, { 'Content-Type': type });
  return c.body(packed(), 200, { 'Content-Type': type, 'Content-Encoding': 'gzip' });
}

export function application({ access, find, exhibits, seats, closed, metrics }: Served): Hono {
  const files = pageFiles();
  const heavy = new Heavy();
  const app = new Hono();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    if (c.req.url.length > MOST_ADDRESS) return c.text('the address is too long\n', 414);
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
    const { method, path } = c.req;
    const isQuery = method === 'POST' && path === QUERY_PATH;
    if (!isQuery && method !== 'GET' && method !== 'HEAD') {
      return c.text(`GET only; POST to ${QUERY_PATH}\n`, 405);
    }
    const token = c.req.query('token');
    if (token !== undefined && access.isToken(token)) {
      c.header('Set-Cookie', access.setCookie);
      return c.redirect('/', 303);
    }
    if (!access.isKnown(credentials)) {
      return c.text('Use the link that the server printed: it holds the token.\n', 401);
    }
    if (isQuery) {
      const body = await bodyOf(c.req.raw);
      if (body === null) return c.json({ error: `the body has more than ${MOST_BODY} bytes` }, 413);
      c.req.raw = new Request(c.req.raw.url, { method, headers: c.req.raw.headers, body });
    }
    return next();
  });
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
  app.route('/api', routes);
  app.get(EVENTS_PATH, (c) => {
    const { recording, without } = followQuery(new URL(c.req.url).searchParams);
    const exhibit = find(recording);
    if (exhibit === null) return c.text('no such recording\n', 404);
    const leave = seats.take();
    if (leave === null) return c.text('too many pages follow\n', 503);
    return followByEvents(c, exhibit, { without, closed, leave });
  });
  app.get('/metrics', async (c) =>
    c.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType }),
  );
  app.get('*', (c) => {
    const file = files.get(c.req.path === '/' ? '/index.html' : c.req.path);
    if (file !== undefined) return fileAnswer(c, file);
    if (c.req.path === '/') return c.text('The page is not built: npm run build\n', 404);
    return c.text('no such page\n', 404);
  });
  app.onError((error, c) => {
    process.stderr.write(`triscope: ${c.req.path}: ${error.message}\n`);
    return c.text('something went wrong here\n', 500);
  });
  return app;
}
