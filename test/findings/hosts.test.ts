/** Findings about hosts, their devices and jobs’ control groups: each just beyond its threshold, and just short of it. */
import { afterAll, expect, it } from 'vitest';
import { findingsAt, removeFolder, said } from './support/findings.ts';
import { HOST_CASES } from './support/hosts.ts';

afterAll(removeFolder);

it.each(HOST_CASES)('$rule', async ({ rule, fires, silent, says }) => {
  expect(said(await findingsAt(fires(), rule))).toEqual([says]);
  expect(await findingsAt(silent(), rule)).toEqual([]);
});
