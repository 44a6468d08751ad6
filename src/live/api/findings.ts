/** What is slow in a recording, and why. */
import { examine, type Verdict } from '../../findings/index.ts';
import type { OpenRecording } from '../../query/index.ts';
import { SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import type { Route } from './route.ts';

/** Findings by the tables that they were made from. */
const found = new WeakMap<OpenRecording, SharedWork<Verdict>>();

async function verdictOf(shown: Shown, signal: AbortSignal): Promise<Verdict> {
  const tables = await shown.sql();
  let verdict = found.get(tables);
  if (verdict === undefined) {
    const path = shown.path === null ? {} : { path: shown.path };
    verdict = new SharedWork((end) => examine(tables, { ...path, signal: end }));
    found.set(tables, verdict);
  }
  return verdict.get(signal);
}

const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));

export const FOUND: readonly Route[] = [
  {
    method: 'get',
    path: '/findings',
    forUsers: true,
    summary: 'Findings, worst first',
    gives: 'rule, severity, sentence, evidence (query and rows), advice: docs/findings.md',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      // Findings about a job are on its page.
      if (shown.facts.jobs !== undefined) return c.json([]);
      const { findings } = await verdictOf(shown, context.signal);
      // Files of a run that goes on are incomplete: this is not an error.
      const told = findings.filter(({ rule }) => !shown.live || rule !== 'suspect-data');
      return c.body(jsonText(told), 200, { 'Content-Type': 'application/json' });
    },
  },
  {
    method: 'get',
    path: '/findings/open',
    forUsers: true,
    summary: 'Rules that could not be examined',
    gives: 'rule, title, what it lacks, and whether the recording has anything that it is about',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      if (shown.facts.jobs !== undefined) return c.json([]);
      return c.json((await verdictOf(shown, context.signal)).notExamined);
    },
  },
];
