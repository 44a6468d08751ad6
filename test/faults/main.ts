/** Faults at every write, allocations that fail, and sudden ends, for `npm run fuzz`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random, seedOf } from '../fuzz/random.ts';
import type { Result } from '../reliability/table.ts';
import { countCalls, type Failure, inject, KINDS, killed } from './injected.ts';
import { endBroker, FEW_MESSAGES, MANY_MESSAGES, READERS, service } from './more-targets.ts';
import { TARGETS, type Target } from './targets.ts';

export interface FaultOptions {
  /** Names, or parts of them, separated by commas; null: all. */
  readonly only: string | null;
  /** Cases of each target and kind at most; where there are more places, some are chosen by the seed. */
  readonly most: number;
  readonly seed: number;
  /** Whether each target has one kind of fault alone: the next one has the next. */
  readonly inTurn?: boolean;
  /** Whether the archive's service is among them: RabbitMQ takes its time to start. */
  readonly withBroker?: boolean;
}

const chosen = ({ only }: FaultOptions, targets = TARGETS) => {
  const parts = only?.split(',') ?? [''];
  const isWhole = (part: string) => targets.some(({ name }) => name === part);
  return targets.filter(({ name }) =>
    parts.some((part) => (isWhole(part) ? name === part : name.includes(part))),
  );
};

/** Those that write. */
const written = (options: FaultOptions, targets = TARGETS) =>
  chosen(options, targets).filter(({ endless }) => endless === undefined);

async function* inFolder(work: (folder: string) => AsyncGenerator<Result>): AsyncGenerator<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-injected-'));
  try {
    yield* work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `count` numbers from 1 on, or some of them: the first, the last, and others by the seed. */
function numbers(count: number, { most, seed }: FaultOptions): number[] {
  const all = Array.from({ length: count }, (_, k) => k + 1);
  if (count <= most) return all;
  const random = new Random(seedOf('numbers', seed));
  const some = new Set(most < 2 ? [] : [1, count]);
  while (some.size < most) some.add(random.between(1, count));
  return [...some].sort((a, b) => a - b);
}

function told(name: string, cases: number, failures: readonly Failure[]): Result {
  console.log(`${name}: ${cases} cases, ${failures.length} failures`);
  for (const { what, message } of failures) console.log(`  ${what}: ${message}`);
  return { name, cases, failures: failures.length };
}

/** Faults at every write. */
export const faults = (options: FaultOptions) =>
  inFolder(async function* (folder) {
    const all = options.withBroker === true ? [...TARGETS, service(FEW_MESSAGES)] : TARGETS;
    for (const [k, target] of written(options, all).entries()) {
      const { calls } = await countCalls(target, folder);
      const failures: Failure[] = [];
      let cases = 0;
      for (const kind of options.inTurn === true ? [KINDS[k % KINDS.length]] : KINDS) {
        for (const at of numbers(calls, options)) {
          cases++;
          const failure = await inject(target, folder, { kind, at });
          if (failure !== null) failures.push(failure);
        }
      }
      yield told(`a write fails: ${target.name}`, cases, failures);
    }
    await endBroker();
  });

/** Allocations of at least so many bytes fail. */
const LARGE = 1 << 20;

export const allocations = (options: FaultOptions) =>
  inFolder(async function* (folder) {
    const all = options.withBroker === true ? [...READERS, service(FEW_MESSAGES)] : READERS;
    for (const target of written(options, [...TARGETS, ...all])) {
      const { calls } = await countCalls(target, folder, LARGE);
      const failures: Failure[] = [];
      const places = numbers(calls, options);
      for (const at of places) {
        const failure = await inject(target, folder, { kind: 'EIO', at, alloc: LARGE });
        if (failure !== null) failures.push(failure);
      }
      yield told(`an allocation fails: ${target.name}`, places.length, failures);
    }
    await endBroker();
  });

/** SIGKILL at random moments, of all targets in turn. SIGINT or SIGTERM ends it: what was counted until then is told. */
export const kills = (options: FaultOptions) =>
  inFolder(async function* (folder) {
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    process.once('SIGINT', end).once('SIGTERM', end);
    const targets: { target: Target; ms: number; random: Random; failures: Failure[] }[] = [];
    const all = options.withBroker === true ? [...TARGETS, service(MANY_MESSAGES)] : TARGETS;
    for (const target of chosen(options, all)) {
      const ms = target.endless ?? (await countCalls(target, folder)).ms;
      targets.push({
        target,
        ms,
        random: new Random(seedOf(target.name, options.seed)),
        failures: [],
      });
    }
    let rounds = 0;
    for (; rounds < options.most && !isEnded; rounds++) {
      for (const { target, ms, random, failures } of targets) {
        const failure = await killed(target, folder, (ms * random.below(1000)) / 1000);
        if (failure !== null) failures.push(failure);
      }
      if (rounds % 20 === 19) console.log(`${rounds + 1} rounds`);
    }
    process.off('SIGINT', end).off('SIGTERM', end);
    await endBroker();
    for (const { target, failures } of targets) {
      yield told(`SIGKILL: ${target.name}`, rounds, failures);
    }
  });
