/** What is shown: recordings, their facts, their tables. */

import type { RecordingEntry } from '../../view/facts/served.ts';
import { servedFacts } from '../exhibit.ts';
import type { Shown } from '../shown.ts';
import { traceFacts } from '../simulation/served.ts';
import type { Route } from './route.ts';

const entry = ({ id, facts, live }: Shown): RecordingEntry => ({
  id,
  title: facts.title,
  state: facts.state,
  live,
});

export const FACTS: readonly Route[] = [
  {
    method: 'get',
    path: '/recordings',
    forUsers: true,
    summary: 'What this server shows',
    gives: 'id, title, state and whether it is live, in the order in which they were given',
    answer: async (c, context) => c.json((await context.all(c)).map(entry)),
  },
  {
    method: 'get',
    path: '/refused',
    forUsers: true,
    summary: 'What this server was to show, and cannot',
    gives: 'path and reason of each, in the order in which they were given',
    answer: async (c, { refused, user }) => c.json(user === null ? refused : []),
  },
  {
    method: 'get',
    path: '/facts',
    forUsers: true,
    summary: 'A recording’s facts',
    gives:
      'title, command, state, hosts, PEs with their CPUs, what could not be read, flags on the axis (notes, marks)',
    answer: async (c, context) => c.json(servedFacts(await context.shown(c))),
  },
  {
    method: 'get',
    path: '/tables',
    forUsers: true,
    summary: 'Tables that can be drawn over time',
    gives: 'tables with metrics, entities, rows, first and last second',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const tables = shown.store.tables();
      if (tables.length > 0 || shown.live || shown.facts.jobs !== undefined) return c.json(tables);
      const events = await traceFacts(shown, context.signal);
      return c.json(events === null ? [] : [events]);
    },
  },
];
