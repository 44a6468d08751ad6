/** All routes under /api/: one line per family. */
import { Hono } from 'hono';
import { CASCADES } from './cascades.ts';
import { CLOCK } from './clock.ts';
import { EVENTS } from './events.ts';
import { FACTS } from './facts.ts';
import { HEATMAP } from './heatmap.ts';
import { MATRIX } from './matrix.ts';
import { openApi } from './openapi.ts';
import { type ApiContext, ApiError, type Route } from './route.ts';
import { SERIES } from './series.ts';

export const ROUTES: readonly Route[] = [
  ...FACTS,
  ...CLOCK,
  ...SERIES,
  ...HEATMAP,
  ...MATRIX,
  ...CASCADES,
  ...EVENTS,
];

/** What is wrong with what was asked, rather than here. */
const ASKED_WRONGLY = ['QueryError'];

export function api(context: ApiContext, routes = ROUTES): Hono {
  const app = new Hono();
  const document = openApi(routes);
  for (const { method, path, answer } of routes) {
    app.on(method.toUpperCase(), path, (c) => answer(c, context));
  }
  app.get('/openapi.json', (c) => c.json(document));
  app.notFound((c) => c.json({ error: 'no such thing: see /api/openapi.json' }, 404));
  app.onError((error, c) => {
    if (error instanceof ApiError) return c.json({ error: error.message }, error.status);
    if (ASKED_WRONGLY.includes(error.name)) return c.json({ error: error.message }, 400);
    process.stderr.write(`triscope: ${c.req.path}: ${error.message}\n`);
    return c.json({ error: error.message }, 500);
  });
  return app;
}
