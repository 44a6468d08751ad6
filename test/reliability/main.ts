/** `npm run fuzz`: see `scripts/fuzz.mjs`. */
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { allocations, faults, kills } from '../faults/main.ts';
import { FUZZED } from '../fuzz/formats.ts';
import { fuzz, type Job, work } from '../fuzz/main.ts';
import { hasBroker } from '../live/amqp/broker.ts';
import { type Result, writeResults } from './table.ts';

const PARTS = ['formats', 'commands', 'faults', 'allocations', 'kills'] as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      part: { type: 'string' },
      format: { type: 'string' },
      target: { type: 'string' },
      cases: { type: 'string' },
      seed: { type: 'string', default: '1' },
      case: { type: 'string' },
      threads: { type: 'string', default: '2' },
      keep: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const formats = values.format?.split(',') ?? Object.keys(FUZZED);
  const parts = (values.part ?? (values.format === undefined ? PARTS.join(',') : 'formats')).split(
    ',',
  );
  const asked = values.cases === undefined ? null : Number(values.cases);
  const wrong =
    formats.some((name) => FUZZED[name] === undefined) ||
    parts.some((part) => !(PARTS as readonly string[]).includes(part)) ||
    (asked !== null && !(asked > 0)) ||
    !Number.isInteger(seed);
  if (wrong) {
    process.stderr.write(
      `parts: ${PARTS.join(', ')}; formats: ${Object.keys(FUZZED).join(', ')}; cases and seed are numbers: see scripts/fuzz.mjs\n`,
    );
    process.exitCode = 2;
    return;
  }
  const how = `seed ${seed}, Node ${process.versions.node}`;
  /** Each is kept when it is there: a run of hours may not come to its end. */
  const take = async (results: AsyncGenerator<Result>): Promise<void> => {
    for await (const result of results) {
      if (result.failures > 0) process.exitCode = 1;
      if (values.write) writeResults([result], how);
    }
  };
  const only = values.target ?? null;
  for (const through of ['readers', 'commands'] as const) {
    if (!parts.includes(through === 'readers' ? 'formats' : through)) continue;
    const number = values.case === undefined ? null : Number(values.case);
    const range =
      number === null
        ? { from: 0, cases: asked ?? (through === 'readers' ? 100_000 : 10_000) }
        : { from: number, cases: 1 };
    const keep = values.keep ?? null;
    const options = { formats, through, seed, threads: Number(values.threads), keep, ...range };
    await take(fuzz(new URL(import.meta.url), options));
  }
  const most = asked ?? Number.POSITIVE_INFINITY;
  if (parts.includes('faults')) await take(faults({ only, most, seed, withBroker: hasBroker }));
  if (parts.includes('allocations'))
    await take(allocations({ only, most, seed, withBroker: hasBroker }));
  if (parts.includes('kills')) {
    await take(kills({ only, most: asked ?? 200, seed, withBroker: hasBroker }));
  }
}

if (isMainThread) await main();
else parentPort?.postMessage(await work(workerData as Job));
