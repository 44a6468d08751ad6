/** What is read from one recording: facts, numbers, findings. */
import { type Finding, findAll } from '../../findings/index.ts';
import { endedBy } from '../../query/ended-by.ts';
import { type OpenRecording, openRecording, type Suspect } from '../../query/index.ts';
import { hasOf } from '../gather.ts';
import type { Has } from '../tables.ts';
import type { Times } from './causes/lanes.ts';
import { peTimes } from './causes/pe-times.ts';
import { regionTimes } from './causes/region-times.ts';
import { comparedFactsOf, type Fact, hostsOf, secondsOf } from './facts.ts';
import { RAMP_KEY } from './known.ts';
import { type Measured, measured } from './measures.ts';
import { nodeSamples } from './nodes.ts';
import { courseOf, rampEnd, runValue } from './noise.ts';
import { measuredParts } from './part-measures.ts';
import { regionTotals, visitSamples } from './regions.ts';
import { SCOPES, type Scope } from './scope.ts';
import { type RunSetting, settingsOf } from './settings.ts';
import { type ScopedParts, type ScopedSamples, simulatorSamples } from './simulator.ts';
import type { NamedValue } from './values.ts';

/** Courses are kept for these only; other entities may be thousands. */
const HAVE_COURSES: ReadonlySet<Scope> = new Set(['run', 'phase']);

const NO_COURSE: readonly null[] = [];

/** What one run says. */
export interface ComparedRun {
  readonly path: string;
  readonly settings: readonly RunSetting[];
  readonly facts: readonly Fact[];
  readonly hosts: readonly string[];
  readonly values: ReadonlyMap<Scope, readonly NamedValue[]>;
  /** Seconds of its timeline that are its ramp; null where it has none. */
  readonly ramp: number | null;
  /** What its PEs, or else its processes, spent their time on; null where that was not recorded. */
  readonly times: Times | null;
  readonly findings: readonly Finding[];
  readonly suspects: readonly Suspect[];
}

/** The samples to measure: of few entities, with those of the run first, and of thousands. */
async function samplesOf(recording: OpenRecording, has: Has) {
  const small: ScopedSamples[] = [];
  const parts: ScopedParts[] = [];
  for (const samples of await simulatorSamples(recording, has)) {
    if ('known' in samples) parts.push(samples);
    else small.push(samples);
  }
  small.push(...visitSamples(has), ...(await nodeSamples(recording, has)));
  return { small, parts };
}

/** Its numbers, and where its ramp ends. */
class Values implements Pick<ComparedRun, 'values' | 'ramp'> {
  readonly values = new Map<Scope, NamedValue[]>(SCOPES.map((scope) => [scope, []]));
  ramp: number | null = null;

  keep(scope: Scope, { samples, host, entity, key, unit, good = null }: Measured): void {
    const found = runValue({ samples }, this.ramp ?? -Infinity);
    if (found === null) return;
    const { value, error } = found;
    const course = HAVE_COURSES.has(scope) ? courseOf({ samples }) : NO_COURSE;
    this.values.get(scope)?.push({ host, entity, key, unit, good, value, error, course });
  }
}

async function valuesOf(
  recording: OpenRecording,
  has: Has,
  all: readonly ScopedSamples[],
): Promise<Values> {
  const values = new Values();
  for (const one of await regionTotals(recording, has)) values.keep('region', one);
  // The end of the ramp is found by the run's own numbers.
  const ofRun: Measured[] = [];
  for (const samples of all) {
    if (samples.scope !== 'run') continue;
    for await (const one of measured(recording, samples)) ofRun.push(one);
  }
  const course = ofRun.find((one) => `${one.key} ${one.unit}` === RAMP_KEY);
  const ramp = course === undefined ? -Infinity : rampEnd(course);
  values.ramp = ramp === -Infinity ? null : ramp;
  for (const one of ofRun) values.keep('run', one);
  for (const samples of all) {
    if (samples.scope === 'run') continue;
    for await (const one of measured(recording, samples)) values.keep(samples.scope, one);
  }
  return values;
}

export interface CompareOptions {
  /** Aborts the comparison: its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Memory for intermediate results of each recording, such as `2GiB` (512MiB). */
  readonly memory?: string;
}

/** How a run is read beside others. */
interface Reading extends CompareOptions {
  readonly signal: AbortSignal;
  /** Does what takes much memory, after other runs have done so. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** @throws InputError, QueryError, MissingPieceError, MemoryLimitError; the signal's reason */
export async function runOf(
  path: string,
  { signal, inTurn, ...open }: Reading,
): Promise<ComparedRun> {
  signal.throwIfAborted();
  const opened = await openRecording([path], { ...open, threads: 1 });
  const recording = endedBy(opened, signal);
  try {
    const has = await hasOf(recording);
    const { small, parts } = await samplesOf(recording, has);
    // Rules have many cheap statements, so other statements run beside them, except those that take much memory.
    const [findings, numbers] = await Promise.all([
      findAll(recording, { path, signal }),
      valuesOf(recording, has, small),
    ]);
    const hosts = await hostsOf(recording, has);
    const facts = await comparedFactsOf(recording, path, hosts);
    const times =
      (await peTimes(recording, has, secondsOf(facts))) ?? (await regionTimes(recording, has));
    await inTurn(async () => {
      for (const samples of parts) {
        for await (const one of measuredParts(recording, samples)) numbers.keep(samples.scope, one);
      }
      await recording.close();
    });
    return {
      path,
      settings: settingsOf(path),
      facts,
      hosts,
      values: numbers.values,
      ramp: numbers.ramp,
      times,
      findings,
      suspects: recording.suspects,
    };
  } finally {
    await recording.close();
  }
}
