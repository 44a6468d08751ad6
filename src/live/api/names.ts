/** What can be searched for: entities and regions of a recording by a part of their name. */
import type { NameFacts } from './names-facts.ts';
import { integerOf, type Route } from './route.ts';

const MOST = 200;
const DEFAULT = 40;
/** Longer is no name. */
const MOST_TEXT = 100;

/** A text as SQL's own. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const NAMES: readonly Route[] = [
  {
    method: 'get',
    path: '/names',
    summary: 'Entities and regions by a part of their name',
    parameters: [
      {
        name: 'like',
        help: 'part of the name, in either case; all where it is not given',
        schema: { type: 'string' },
      },
      {
        name: 'most',
        help: `${DEFAULT} where it is not given`,
        schema: { type: 'integer', minimum: 1, maximum: MOST },
      },
    ],
    gives: 'domain and name of each; names that begin with `like` first',
    answer: async (c, context) => {
      const like = (c.req.query('like') ?? '').slice(0, MOST_TEXT);
      const most = integerOf(c, 'most', DEFAULT, 1, MOST);
      const { sql } = await context.shown(c);
      const recording = await sql();
      const [there] = await recording.query<{ n: number }>(
        `SELECT count(*)::INTEGER AS n FROM information_schema.tables WHERE table_name = 'geopm_region'`,
      );
      const regions =
        (there?.n ?? 0) > 0
          ? `UNION SELECT 'region', region FROM geopm_region WHERE section = 'region'`
          : '';
      const part = literal(like.toLowerCase());
      const names = await recording.query<NameFacts>(`
        SELECT domain, name FROM (SELECT domain, name FROM entities ${regions})
        WHERE contains(lower(name), ${part}) OR contains(lower(domain || ' ' || name), ${part})
        GROUP BY ALL
        ORDER BY NOT starts_with(lower(name), ${part}), length(name), domain, name LIMIT ${most}`);
      return c.json(names);
    },
  },
];
