/** A controller for programs that are started elsewhere, before or after it. */
import { mkdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, TriscopeError } from '../../model/error.ts';
import { ENV_DIR } from '../../model/region-layout.ts';
import { isAlive } from '../../os/alive.ts';
import { readReason } from '../../os/plain-file.ts';
import { meetingFolder, openMeeting } from '../meeting-folder.ts';
import type { LaunchResult } from './launch.ts';
import { clearMeetingFolder, isMarked } from './pages-folder.ts';
import type { ControllerSettings } from './settings.ts';
import { ControllerSide, deferred, type Hearers } from './side.ts';

export interface AttachOptions extends Hearers {
  /** Processes whose end ends the sampling. If there are none, it ends when all processes that marked regions have ended. */
  readonly pids: readonly number[];
  /** Folder of the region pages; that of the user if absent. */
  readonly pages?: string;
  readonly settings: Omit<ControllerSettings, 'pages' | 'attached'>;
  /** Called when sampling has begun. */
  readonly onReady: (pages: string) => void;
}

/** ms between checks whether the processes live. */
const LOOK_MS = 50;
/** Signals that end it early, the most important first. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED = 130;

/** A process cannot be attached to. */
class AttachError extends TriscopeError {
  override readonly name = 'AttachError';
  override readonly exitCode = EXIT.usage;
}

/** The folder in which a running process makes its page. @throws AttachError if it makes none, or the process is another user's */
export function pagesOf(pid: number): string {
  if (!isAlive(pid)) throw new AttachError(`${pid}: no such process`);
  let environment: string;
  let place: string;
  try {
    // As root we could read its environment, and would then write in a folder that another user chose.
    const { uid } = statSync(`/proc/${pid}`);
    if (uid !== process.geteuid?.()) {
      throw new AttachError(`${pid}: it belongs to user ${uid}: run this command as that user`);
    }
    environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    place = readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    if (error instanceof AttachError) throw error;
    throw new AttachError(`${pid}: its environment cannot be read: ${(error as Error).message}`);
  }
  const named = environment.split('\0').find((entry) => entry.startsWith(`${ENV_DIR}=`));
  const folder = named?.slice(ENV_DIR.length + 1);
  if (folder) return resolve(place, folder);
  throw new AttachError(
    `${pid} marks nowhere: start it with ${ENV_DIR}=FOLDER, or after \`triscope region attach\` without a process`,
  );
}

/** @throws AttachError if the folder is not ours afterwards */
function makeFolder(pages: string): void {
  try {
    // One level only: Node's recursive mkdir never returns below /proc.
    mkdirSync(pages, { mode: 0o700 });
  } catch (error) {
    const status = statSync(pages, { throwIfNoEntry: false });
    if (status?.isDirectory()) return;
    const why = status === undefined ? readReason(error) : 'it is a file';
    throw new AttachError(`${pages}: cannot be used as the folder of pages: ${why}`);
  }
}

/** Samples until they have ended, or a signal arrives, and writes the report. @throws LaunchError, AttachError */
export async function attachTo(options: AttachOptions): Promise<LaunchResult> {
  const { pids, settings, onReady } = options;
  const named = options.pages === undefined ? undefined : resolve(options.pages);
  const pages = named ?? (pids.length > 0 ? pagesOf(pids[0]) : meetingFolder());
  const other = pids.find((pid) => named === undefined && pagesOf(pid) !== pages);
  if (other !== undefined) {
    throw new AttachError(
      `${other} marks in another folder than ${pids[0]}: attach to each separately`,
    );
  }
  makeFolder(pages);
  if (pages === meetingFolder() && openMeeting() === null) {
    throw new AttachError(`${pages}: it is not a folder that only you can write in: remove it`);
  }
  const { promise: stopped, resolve: stop } = deferred<'stopped'>();
  const end = () => stop('stopped');
  for (const name of ENDING) process.on(name, end);
  const side = new ControllerSide({ ...settings, pages, attached: true }, options);
  try {
    await side.ready;
    const watcher = side.watch(pages);
    await side.begin();
    onReady(pages);
    const ended = pids.length > 0 ? whenGone(pids, stopped) : whenAllEnded(pages, stopped);
    const how = await ended;
    watcher?.close();
    side.ended(0, 0);
    const punctuality = await side.finished();
    return { code: how === 'stopped' ? INTERRUPTED : 0, punctuality, stuck: side.stuck };
  } finally {
    for (const name of ENDING) process.off(name, end);
    if (pages === meetingFolder()) clearMeetingFolder();
  }
}

/** Resolves when `is` holds. */
async function when(is: () => boolean, stopped: Promise<'stopped'>): Promise<'ended' | 'stopped'> {
  while (!is()) {
    if ((await Promise.race([stopped, sleep(LOOK_MS)])) === 'stopped') return 'stopped';
  }
  return 'ended';
}

const whenGone = (pids: readonly number[], stopped: Promise<'stopped'>) =>
  when(() => !pids.some(isAlive), stopped);

/** Resolves when some process has marked and all have ended. */
async function whenAllEnded(pages: string, stopped: Promise<'stopped'>) {
  const came = await when(() => isMarked(pages), stopped);
  return came === 'stopped' ? came : when(() => !isMarked(pages), stopped);
}
