/** All routes under /api/: one line per family. */
import { Hono } from 'hono';
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
  ...REGIONS,
  ...NODES,
  ...JOBS,
];

/** What is wrong with what was asked, rather than here; what is not there any more; what takes too long. */
const STATUSES: Readonly<Record<string, ApiError['status']>> = {
  QueryError: 400,
  InputError: 410,
  TimeLimitError: 422,
};

export function api(context: ApiContext, routes = ROUTES): Hono {
  const app = new Hono();
  const document = openApi(routes);
  for (const { method, path, answer } of routes) {
    app.on(method.toUpperCase(), path, (c) => answer(c, context));
  }
  app.get('/openapi.json', (c) => c.json(document));
  app.notFound((c) => c.json({ error: 'no such thing: see /api/openapi.json' }, 404));
  app.onError((error, c) => {
    const status = error instanceof ApiError ? error.status : STATUSES[error.name];
    if (status !== undefined) return c.json({ error: error.message }, status);
    process.stderr.write(`triscope: ${c.req.path}: ${error.message}\n`);
    return c.json({ error: error.message }, 500);
  });
  return app;
}
