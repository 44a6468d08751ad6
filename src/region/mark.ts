/**
 * Marking of regions. If TRISCOPE_REGION_DIR names a folder (`triscope region launch` sets it), marks are
 * written to this process's region page there, and a controller may read them; otherwise they do nothing.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMainThread, threadId as workerNumber } from 'node:worker_threads';
import { regionHash } from '../model/region-hash.ts';
import { ENV_DIR, ENV_FILTER, ENV_RING, HINTS, type Hint } from '../model/region-layout.ts';
import { allowedCpus, threadId } from '../os/affinity.ts';
import { EngineCells } from './engine-cells.ts';
import { type MarkedPlace, Marker } from './marker.ts';
import { openMeeting } from './meeting-folder.ts';
import { hintNumber } from './names.ts';
import { openOwnPage, type PageMemory, pageFileName, ringCapacityFrom } from './page-file.ts';
import { claimSlot, releaseSlot } from './thread-slot.ts';

/** A part of the program that is measured separately. Each thread gets its own object. */
export interface Region {
  /** The name that was given. */
  readonly name: string;
  /** What the region waits for or uses. The first call that named the region decides, in any thread. */
  readonly hint: Hint;
  /** CRC-32 of the name: its id in traces and for agents. */
  readonly hash: number;
  /** Whether the marks are recorded. */
  readonly attached: boolean;
  /** The thread is in this region until exit(). Regions nest. Takes tens of nanoseconds and allocates nothing. */
  enter(): void;
  /** Leaves the region. If it is not the innermost one, the regions inside it are left, too; if it was not entered, nothing is left. Both are counted. */
  exit(): void;
  /**
   * Runs `work` in the region, which is left also if `work` throws. If it returns a promise, the time until the promise
   * settles counts as asynchronous: such spans overlap, so they are counted separately and never attributed.
   */
  run<T>(work: () => T): T;
}

class DetachedRegion implements Region {
  readonly name: string;
  readonly hint: Hint;
  readonly attached = false;

  constructor(name: string, hint: Hint) {
    this.name = name;
    this.hint = hint;
  }

  get hash(): number {
    return regionHash(this.name);
  }

  enter(): void {}

  exit(): void {}

  run<T>(work: () => T): T {
    return work();
  }
}

class AttachedRegion implements Region, MarkedPlace {
  readonly name: string;
  readonly index: number;
  readonly hash: number;
  readonly hintCode: number;
  readonly attached = true;
  lastParent = -1;
  lastNode = 0;
  asyncNode = 0;
  private readonly marker: Marker;

  constructor(marker: Marker, name: string, hintCode: number) {
    const named = marker.names.find(name, hintCode);
    this.marker = marker;
    this.name = name;
    this.index = named.index;
    this.hash = named.hash;
    this.hintCode = named.hintCode;
  }

  get hint(): Hint {
    return HINTS[this.hintCode] ?? 'unknown';
  }

  enter(): void {
    this.marker.enter(this);
  }

  exit(): void {
    this.marker.exit(this);
  }

  run<T>(work: () => T): T {
    const { marker } = this;
    marker.enter(this);
    let result: T;
    try {
      result = work();
    } catch (error) {
      marker.exit(this);
      throw error;
    }
    if (!(result instanceof Promise)) {
      marker.exit(this);
      return result;
    }
    const began = marker.forgetEntry(this) ?? marker.now();
    marker.beginAsync(this);
    return result.finally(() => marker.endAsync(this, began)) as T;
  }
}

/** Folder of the pages: the one of the environment, or that of a controller which the user started separately. */
const folder = process.env[ENV_DIR] || (process.env[ENV_FILTER] ? openMeeting() : null);
const warn = (message: string) => process.emitWarning(message, 'RegionWarning');

/** Undefined before the first mark: a process that marks nothing has no page. */
let page: PageMemory | null | undefined;
/** The pen of this thread; undefined before its first mark. */
let marker: Marker | null | undefined;

/** Whether GEOPM_PROGRAM_FILTER, if set, names this program: its script, or Node. */
function isWanted(name: string): boolean {
  const list = (process.env[ENV_FILTER] ?? '').split(/[, ]+/).filter((word) => word !== '');
  return list.length === 0 || list.some((word) => word === name || word === 'node');
}

function attach(): PageMemory | null {
  const name = basename(process.argv[1] ?? process.title);
  if (folder === null || !isWanted(name)) return null;
  try {
    const own = openOwnPage(folder, name, ringCapacityFrom(process.env[ENV_RING]));
    if (own === null) warn('regions are not kept: this platform has no mapped memory for Node');
    return own;
  } catch (error) {
    warn(`regions are not kept: ${(error as Error).message}`);
    return null;
  }
}

function markerOfThread(): Marker | null {
  if (marker !== undefined) return marker;
  marker = null;
  page ??= attach();
  if (page === null) return marker;
  const cpus = allowedCpus();
  const tid = threadId() ?? process.pid + workerNumber;
  const slot = claimSlot(page, tid, cpus.length === 1 ? cpus[0] : -1);
  if (slot === null) return marker;
  marker = new Marker(page, slot);
  marker.onMisorder = warn;
  return marker;
}

const regions = new Map<string, Region>();
let overflow: Region | undefined;

/**
 * The region called `name`. Calls with the same name return the same region, with the hint of the first call.
 * @param hint what the region waits for or uses; 'unknown' if absent
 * @throws RangeError if `hint` is not one of HINTS
 * @example
 * ```ts
 * import { region } from 'triscope/region';
 *
 * const solve = region('solve', 'compute');
 * solve.enter();
 * // … what is measured …
 * solve.exit();
 * const value = region('write', 'io').run(() => 42); // 42; leaves the region also where the work throws
 * ```
 */
export function region(name: string, hint: Hint = 'unknown'): Region {
  const known = regions.get(name);
  if (known !== undefined) return known;
  const code = hintNumber(hint);
  const pen = markerOfThread();
  const made =
    pen === null ? new DetachedRegion(name, HINTS[code]) : new AttachedRegion(pen, name, code);
  if (made instanceof AttachedRegion && made.index === 0) {
    // The page has no room for the name: all such names share one region and are not remembered.
    overflow ??= made;
    return overflow;
  }
  if (regions.size < MOST_KEPT) regions.set(name, made);
  return made;
}

/** Number of regions remembered by name; more than a page holds. */
const MOST_KEPT = 8192;

/** Spans of asynchronous work that overlap: they are counted and timed, never attributed. */
export interface AsyncSpans {
  /** Begins a span. Returns the value to pass to end(). */
  begin(): number;
  end(began: number): void;
}

/** The asynchronous spans called `name`; null if marks are not recorded. @throws RangeError if `hint` is not one of HINTS */
export function asyncSpans(name: string, hint: Hint): AsyncSpans | null {
  const pen = markerOfThread();
  if (pen === null) return null;
  const place = new AttachedRegion(pen, name, hintNumber(hint));
  return {
    begin: () => {
      pen.beginAsync(place);
      return pen.now();
    },
    end: (began) => pen.endAsync(place, began),
  };
}

/** Where an engine of this thread writes its counts; null if marks are not recorded. */
export function engineCells(): EngineCells | null {
  const pen = markerOfThread();
  return pen === null ? null : new EngineCells(pen.page, pen.slot);
}

/**
 * Marks the begin of an epoch: a pass through the outermost loop of the application.
 * @example
 * ```ts
 * import { epoch, region } from 'triscope/region';
 *
 * for (let step = 0; step < 100; step++) {
 *   epoch();
 *   region('solve', 'compute').run(() => Math.sqrt(step));
 * }
 * ```
 */
export function epoch(): void {
  markerOfThread()?.epoch();
}

/**
 * Announces `units` of work that the process's threads together will do in the region in which they are; each of them
 * may announce its part. One unit or less means none, as in GEOPM.
 * @example
 * ```ts
 * import { region, tprofInit, tprofPost } from 'triscope/region';
 *
 * region('rows').run(() => {
 *   tprofInit(1000);
 *   for (let row = 0; row < 1000; row++) tprofPost();
 * });
 * ```
 */
export function tprofInit(units: number): void {
  if (units > 1) markerOfThread()?.work(Math.min(Math.floor(units), 0xffff_ffff));
}

/**
 * One unit of the announced work is done.
 * @example
 * ```ts
 * import { tprofInit, tprofPost } from 'triscope/region';
 *
 * tprofInit(2);
 * tprofPost();
 * tprofPost(); // all of the announced work is done
 * ```
 */
export function tprofPost(): void {
  markerOfThread()?.workDone();
}

/**
 * Ends the application's time in reports: later marks are ignored. Called automatically at a normal exit. After
 * MPI_Init only MPI_Finalize ends it.
 * @example
 * ```ts
 * import { region, shutdown } from 'triscope/region';
 *
 * region('solve').run(() => Math.sqrt(2));
 * shutdown(); // what follows is no time of the application
 * ```
 */
export function shutdown(): void {
  if (!page || stopped) return;
  stopped = true;
  (markerOfThread() ?? new Marker(page, 0)).stop();
}

let stopped = false;

if (folder !== null) {
  process.on('exit', () => {
    // Perhaps only worker threads have marked.
    if (isMainThread && existsSync(join(folder, pageFileName()))) page ??= attach();
    if (isMainThread) shutdown();
    if (page && marker) releaseSlot(page, marker.slot);
  });
}
