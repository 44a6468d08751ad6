/** What is slow in a recording, and why. */
import { type Finding, findAll } from '../../findings/index.ts';
import type { OpenRecording } from '../../query/index.ts';
import type { Route } from './route.ts';

/** Findings by the tables that they were made from. */
const found = new WeakMap<OpenRecording, Promise<Finding[]>>();

const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));

export const FOUND: readonly Route[] = [
  {
    method: 'get',
    path: '/findings',
    summary: 'Findings, worst first',
    gives: 'rule, severity, sentence, evidence (query and rows), advice: docs/findings.md',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const tables = await shown.sql();
      let findings = found.get(tables);
      if (findings === undefined) {
        const path = shown.path === null ? {} : { path: shown.path };
        findings = findAll(tables, path);
        found.set(tables, findings);
        // A failure is told to who asked; the next one tries again.
        findings.catch(() => found.delete(tables));
      }
      // Files of a run that goes on are not whole yet: nothing is wrong with them.
      const told = (await findings).filter(({ rule }) => !shown.live || rule !== 'suspect-data');
      return c.body(jsonText(told), 200, { 'Content-Type': 'application/json' });
    },
  },
];
