/** What can be searched for: entities and regions of a recording by a part of their name. */
import { endedBy } from '../../query/ended-by.ts';
import { quoteText } from '../../query/index.ts';
import type { NameFacts } from '../../view/facts/names.ts';
import { integerOf, type Route } from './route.ts';

const MOST = 200;
const DEFAULT = 40;
/** Longer is no name. */
const MOST_TEXT = 100;

/** Where names are, by table: domain and name of each. */
const SOURCES: readonly { readonly table: string; readonly names: string }[] = [
  { table: 'entities', names: 'SELECT domain, name FROM entities' },
  {
    table: 'ross_kp',
    names: `SELECT DISTINCT 'kp' AS domain, 'KP ' || kp_id || ' of PE ' || pe_id AS name FROM ross_kp`,
  },
  {
    table: 'ross_lp',
    names: `SELECT DISTINCT 'lp' AS domain, 'LP ' || lp_id || ' of KP ' || kp_id || ' of PE ' || pe_id AS name FROM ross_lp`,
  },
  {
    table: 'geopm_region',
    names: `SELECT 'region' AS domain, region AS name FROM geopm_region WHERE section = 'region'`,
  },
];

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
      const recording = endedBy(await sql(), context.signal);
      const tables = await recording.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'main'`,
      );
      const there = new Set(tables.map(({ name }) => name));
      const parts = SOURCES.flatMap(({ table, names }) => (there.has(table) ? [names] : []));
      const part = quoteText(like.toLowerCase());
      const names = await recording.query<NameFacts>(`
          SELECT domain, name FROM (${parts.join(' UNION ')})
          WHERE contains(lower(name), ${part})
          ORDER BY NOT starts_with(lower(name), ${part}), length(name), domain, name LIMIT ${most}`);
      return c.json(names);
    },
  },
];
