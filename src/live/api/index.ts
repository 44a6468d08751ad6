/** All routes under /api/: one line per family. */
import { type Context, Hono } from 'hono';
import { visible } from '../../formats/visible.ts';
import { forOperators } from '../jobs-shown.ts';
import type { Desk } from '../net/desk.ts';
import { LIMITS, type RouteLimits } from '../net/limits.ts';
import { ANIMATION } from './animation.ts';
import { CASCADES } from './cascades.ts';
import { CLOCK } from './clock.ts';
import { COMPARE } from './compare.ts';
import { EVENTS } from './events.ts';
import { FACTS } from './facts.ts';
import { FOUND } from './findings.ts';
import { HEATMAP } from './heatmap.ts';
import { JOBS } from './jobs.ts';
import { MATRIX } from './matrix.ts';
import { NAMES } from './names.ts';
import { NODES } from './nodes.ts';
import { openApi } from './openapi.ts';
import { SQL } from './query.ts';
import { REGIONS } from './regions.ts';
import { type ApiContext, ApiError, type Route } from './route.ts';
import { SERIES } from './series.ts';

export const ROUTES: readonly Route[] = [
  ...FACTS,
  ...CLOCK,
  ...NAMES,
  ...COMPARE,
  ...SERIES,
  ...SQL,
  ...FOUND,
  ...HEATMAP,
  ...MATRIX,
  ...CASCADES,
  ...EVENTS,
  ...ANIMATION,
  ...REGIONS,
  ...NODES,
  ...JOBS,
];

/** Status codes of errors: in the request, something that no longer exists, something that takes too long. */
const STATUSES: Readonly<Record<string, ApiError['status']>> = {
  QueryError: 400,
  InputError: 410,
  TimeLimitError: 422,
  MemoryLimitError: 422,
  CrowdedError: 503,
  LateError: 503,
  GoneError: 503,
};

/** What a server provides for its routes. */
export interface ApiOptions extends Pick<ApiContext, 'shown' | 'all' | 'refused'> {
  readonly desk: Desk;
  /** Aborted when the client of a request has gone. */
  gone(c: Context): AbortSignal;
  /** See `ApiContext.user`; nobody's where not given. */
  userOf?(c: Context): string | null;
}

const named = (path: string): RouteLimits => {
  const limits = LIMITS[`/api${path}`];
  if (limits === undefined) throw new Error(`/api${path} has no limits: see net/limits.ts`);
  return limits;
};

export function api(
  { desk, gone, userOf = () => null, shown, all, refused }: ApiOptions,
  routes = ROUTES,
  limitsOf = named,
): Hono {
  const app = new Hono();
  const document = openApi(routes);
  for (const { method, path, answer, forUsers = false } of routes) {
    const limits = limitsOf(path);
    app.on(method.toUpperCase(), path, (c) => {
      const user = userOf(c);
      if (user !== null && !forUsers) forOperators();
      const context = { shown, all, refused, limits, user };
      return desk.serve(limits, gone(c), (signal) => answer(c, { ...context, signal }));
    });
  }
  app.get('/openapi.json', (c) => c.json(document));
  app.notFound((c) => c.json({ error: 'no such thing: see /api/openapi.json' }, 404));
  app.onError((error, c) => {
    const status = error instanceof ApiError ? error.status : STATUSES[error.name];
    // It contains names of files, and of the caller.
    if (status !== undefined) return c.json({ error: visible(error.message) }, status);
    process.stderr.write(`triscope: ${c.req.path}: ${error.message}\n`);
    return c.json({ error: error.message }, 500);
  });
  return app;
}
