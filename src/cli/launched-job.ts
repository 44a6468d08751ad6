/**
 * What the recorders of one MPI job share. They cannot use MPI, which belongs to the program that they run: they share a folder of
 * region pages on each machine, and put the reports of the machines beside each other.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinReports } from '../formats/geopm/join-reports.ts';
import type { LaunchedRank } from '../os/mpi/launcher.ts';
import { type PeersSettings, REFUSED } from '../region/controller/index.ts';

/** Milliseconds between looks. */
const PACE_MS = 50;
/** Milliseconds that the last rank of a machine, and the last machine, may be late. */
const MOST_LATE_MS = 30_000;

/**
 * The folder of region pages that all ranks of a job on this machine share.
 * @throws Error where it belongs to somebody else
 */
export function pagesOfJob(job: string): string {
  // Containers may share the folder of temporary files.
  const path = join(tmpdir(), `triscope-region-${process.getuid?.() ?? 0}-${hostname()}-${job}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) {
    throw new Error(`${path} belongs to another user: remove it`);
  }
  return path;
}

/** Waits until `done`; false where that takes too long. */
async function within(done: () => boolean): Promise<boolean> {
  for (const until = Date.now() + MOST_LATE_MS; !done(); await sleep(PACE_MS)) {
    if (Date.now() > until) return false;
  }
  return true;
}

const doneFile = (pages: string, localRank: number) => join(pages, `rank-${localRank}.done`);

/** This rank's command has ended. */
export function tellDone(pages: string, { localRank }: LaunchedRank): void {
  // The folder goes once the first rank does not wait any more.
  if (existsSync(pages)) writeFileSync(doneFile(pages, localRank), '');
}

/** This machine's first rank cannot start its controller: the other ranks then run nothing. */
export function tellRefused(pages: string, { local }: LaunchedRank): void {
  if (local > 1) writeFileSync(join(pages, REFUSED), '');
  else rmSync(pages, { recursive: true, force: true });
}

/** One of the others has seen it; the last of them removes the folder. */
export function leaveRefused(pages: string, one: LaunchedRank): void {
  tellDone(pages, one);
  const others = Array.from({ length: one.local - 1 }, (_, k) => doneFile(pages, k + 1));
  if (others.every((file) => existsSync(file))) rmSync(pages, { recursive: true, force: true });
}

/** Waits for the commands of this machine's other ranks. */
export async function waitForLocal(pages: string, { local }: LaunchedRank): Promise<void> {
  const others = Array.from({ length: local - 1 }, (_, k) => doneFile(pages, k + 1));
  await within(() => others.every((file) => existsSync(file)));
}

/** Name of a machine's part of the report: it says of how many ranks it is. */
const partOf = (report: string, { job, rank, local }: LaunchedRank) =>
  `${report}.part-${job}-${String(rank).padStart(8, '0')}-${local}`;

/** Where agents of this machine and of the others meet: beside the report, which all see. */
export function peersOf(report: string, { job, rank, local, size }: LaunchedRank): PeersSettings {
  return { folder: `${report}.peers-${job}`, rank, local, size };
}

/** Where this machine's first rank writes its report. */
export function hostReport(report: string, one: LaunchedRank): string {
  return one.rank === 0 ? report : `${partOf(report, one)}.unfinished`;
}

/** Parts that are there, and of how many ranks they are. */
function partsOf(report: string, job: string): { paths: string[]; ranks: number } {
  const start = `${basename(report)}.part-${job}-`;
  const names = readdirSync(dirname(report))
    .filter((name) => name.startsWith(start) && /-\d+$/.test(name))
    .sort();
  const ranks = names.reduce((sum, name) => sum + Number(/\d+$/.exec(name)?.[0]), 0);
  return { paths: names.map((name) => join(dirname(report), name)), ranks };
}

/**
 * Makes one report of all machines': the first rank of each calls it when its own is written, and rank 0 waits for the
 * others'. They must be in the same folder, on a file system that all see.
 * @returns what is missing, for a warning; null where nothing is
 */
export async function joinHosts(report: string, one: LaunchedRank): Promise<string | null> {
  if (one.rank > 0) {
    renameSync(hostReport(report, one), partOf(report, one));
    return null;
  }
  const complete = await within(() => partsOf(report, one.job).ranks + one.local >= one.size);
  const { paths, ranks } = partsOf(report, one.job);
  if (paths.length > 0) {
    const texts = [report, ...paths].map((path) => readFileSync(path, 'utf8'));
    writeFileSync(`${report}.tmp`, joinReports(texts));
    renameSync(`${report}.tmp`, report);
    for (const path of paths) rmSync(path);
  }
  if (complete) return null;
  return `${report} lacks the hosts of ${one.size - one.local - ranks} ranks: they write beside it, on a file system that all hosts share`;
}
