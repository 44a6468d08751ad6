/**
 * What the page has where it shows an archive's jobs and nothing else of it: of an archive with an index that is too large to be
 * drawn as a whole, and of any archive to a user who may see no others' jobs.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Archive, indexPath, JobError, openArchive, openJobs } from '../findings/job/index.ts';
import { JOB_INDEX } from '../query/job-tables.ts';
import type { PageFacts } from '../view/facts/run.ts';
import { SeriesStore } from '../view/series/store.ts';
import { ApiError } from './api/route.ts';
import type { Shown } from './shown.ts';

/** Files, and bytes of them as they lie there, from which on an archive with an index is not read as a whole. */
const MANY_FILES = 2000;
const MANY_BYTES = 32 * 2 ** 20;

/** Where a path's archive may be: in a recording's folder `node`, or the path itself. */
export const archivesIn = (path: string): readonly string[] => [join(path, 'node'), path];

export const hasJobIndex = (folder: string): boolean => existsSync(join(folder, JOB_INDEX));

/** The archive at a path where its jobs alone are to be shown; null else. */
export function largeArchive(path: string): Archive | null {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  try {
    const archive = openArchive(path);
    if (!existsSync(indexPath(archive))) return null;
    if (archive.files.length >= MANY_FILES) return archive;
    const bytes = archive.files.reduce((sum, file) => sum + statSync(file.path).size, 0);
    return bytes >= MANY_BYTES ? archive : null;
  } catch (error) {
    if (error instanceof JobError) return null;
    throw error;
  }
}

/** A whole number of seconds before all jobs, in nanoseconds: the axis begins there. */
const nanoseconds = (seconds: number): string =>
  String(BigInt(Math.floor(seconds)) * 1_000_000_000n);

/** What is said of such an archive: asks its index, which is brought up to its files. */
export async function factsOfJobs(archive: Archive): Promise<PageFacts> {
  const { jobs, note } = await openJobs(archive, null);
  try {
    const span = (await jobs?.span()) ?? null;
    const zero = span === null ? 0 : Math.floor(span[0]);
    return {
      title: basename(resolve(archive.path)),
      command: '',
      state: 'finished',
      hosts: [],
      pes: [],
      zero: nanoseconds(zero),
      notes: [
        `An archive of ${archive.files.length} files: its jobs are shown, each as it is chosen, and SQL asks the job index.`,
        ...(note === null ? [] : [note]),
      ],
      jobs: { user: null, span: span === null ? null : [span[0] - zero, span[1] - zero] },
    };
  } finally {
    jobs?.close();
  }
}

const OPERATORS = 'this is for operators: you see your own jobs';

/** First and last second of all that can be drawn. */
function spanOf({ store }: Shown): readonly [number, number] | null {
  const drawn = store.tables().filter(({ from, to }) => to > from);
  if (drawn.length === 0) return null;
  return [
    Math.max(0, Math.min(...drawn.map(({ from }) => from))),
    Math.max(...drawn.map(({ to }) => to)),
  ];
}

const PARTS = new WeakMap<Shown, Map<string, Shown>>();

/** What a user may see of it: jobs, which are searched for by the user's name. The same object for the same archive and user. */
export function partOf(shown: Shown, user: string): Shown {
  const parts = PARTS.get(shown) ?? new Map<string, Shown>();
  PARTS.set(shown, parts);
  const known = parts.get(user);
  if (known !== undefined) return known;
  const { title, state, zero, jobs } = shown.facts;
  const span = jobs === undefined ? spanOf(shown) : jobs.span;
  const part: Shown = {
    ...{ id: shown.id, path: null, live: false, revision: shown.revision, gone: shown.gone },
    facts: {
      ...{ title, command: '', state, hosts: [], pes: [], zero, notes: [] },
      jobs: { user, span },
    },
    store: new SeriesStore(),
    rollbacks: null,
    sql: () => Promise.reject(new ApiError(403, OPERATORS)),
    of: shown,
  };
  parts.set(user, part);
  return part;
}

/** @throws ApiError where a route is not for users */
export function forOperators(): never {
  throw new ApiError(403, OPERATORS);
}
