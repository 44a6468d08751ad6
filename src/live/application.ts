/** What answers requests that were let in: the API, the stream, metrics, the page's files. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Refused } from '../view/facts/served.ts';
import { EVENTS_PATH, followQuery } from '../view/message.ts';
import { api } from './api/index.ts';
import { ApiError } from './api/route.ts';
import { followByEvents } from './events.ts';
import type { Exhibit, Find } from './exhibit.ts';
import { partOf } from './jobs-shown.ts';
import type { MetricsText } from './metrics-text.ts';
import { Desk } from './net/desk.ts';
import type { Followers } from './net/followers.ts';
import { type Admitted, bounded, refuse } from './net/guard.ts';
import { type PageFile, pageFiles } from './page.ts';
import type { Shown } from './shown.ts';

interface Served {
  readonly find: Find;
  readonly exhibits: readonly Exhibit[];
  /** Paths that were to be shown and cannot be, with the reason. */
  readonly refused: readonly Refused[];
  readonly followers: Followers;
  /** Aborted when the server ends. */
  readonly closed: AbortSignal;
  readonly metrics: MetricsText;
}

/** What the guard said of a request, by the request. */
const admissions = new WeakMap<IncomingMessage, Admitted>();

function admittedOf(c: Context): Admitted {
  const admitted = admissions.get((c.env as { incoming: IncomingMessage }).incoming);
  if (admitted === undefined) throw new Error('a request that nobody let in');
  return admitted;
}

/** The body, if it has at most `most` bytes. */
async function bodyOf(request: Request, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(request.headers.get('content-length') ?? 0) > most) return null;
  const parts: Uint8Array[] = [];
  let size = 0;
  // A length is not always said, and not always true.
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size > most) return null;
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

/** The part of it that the caller may see. */
function seenBy(shown: Shown, c: Context): Shown {
  const { user } = admittedOf(c).viewer;
  return user === null ? shown : partOf(shown, user);
}

function routes({ find, exhibits, refused, closed, metrics }: Served): Hono {
  const files = pageFiles();
  const desk = new Desk(closed);
  const app = new Hono();
  app.use(async (c, next) => {
    if (c.req.method !== 'POST') return next();
    const { limits } = admittedOf(c);
    const body = await bodyOf(c.req.raw, limits.body);
    if (body === null) {
      return c.json({ error: `the body has more than ${limits.body} bytes` }, 413);
    }
    const { url, method, headers } = c.req.raw;
    c.req.raw = new Request(url, { method, headers, body });
    return next();
  });
  const shown = async (c: Context) => {
    const id = c.req.query('recording') ?? null;
    const found = find(id);
    if (found === null) {
      throw new ApiError(404, `there is no recording ${JSON.stringify(id)}: see /api/recordings`);
    }
    return seenBy(await found.now(), c);
  };
  const all = (c: Context) => Promise.all(exhibits.map(async (one) => seenBy(await one.now(), c)));
  const userOf = (c: Context) => admittedOf(c).viewer.user;
  app.route('/api', api({ desk, gone: (c) => admittedOf(c).gone, userOf, shown, all, refused }));
  app.get('/metrics', async (c): Promise<Response> => {
    const { limits, gone, viewer } = admittedOf(c);
    if (viewer.user !== null) return c.text('this is for operators\n', 403);
    return desk.serve(limits, gone, async () =>
      c.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType }),
    );
  });
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

/** Answers requests; each is one that the guard let in. */
export function application(served: Served) {
  const app = routes(served);
  const answered = getRequestListener(app.fetch);
  return (request: IncomingMessage, response: ServerResponse, admitted: Admitted): unknown => {
    const { method, path, query } = admitted.asked;
    if (path === EVENTS_PATH && admitted.viewer.user !== null) {
      return refuse(response, { status: 403, line: 'this is for operators' });
    }
    if (path === EVENTS_PATH && method === 'GET') {
      const { recording, without } = followQuery(query);
      const exhibit = served.find(recording);
      const refusal =
        exhibit === null
          ? { status: 404, line: 'no such recording' }
          : followByEvents(request, response, { exhibit, without, followers: served.followers });
      return refusal === null ? undefined : refuse(response, refusal);
    }
    bounded(response, admitted);
    admissions.set(request, admitted);
    return answered(request, response);
  };
}
