/**
 * Marking of regions. Where TRISCOPE_REGION_DIR names a folder (`triscope region launch` sets it), what is marked is
 * kept on this process's region page there, and a controller may look on; otherwise marks do nothing.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMainThread, threadId as workerNumber } from 'node:worker_threads';
import { regionHash } from '../model/region-hash.ts';
import { ENV_DIR, ENV_FILTER, ENV_RING, HINTS, type Hint } from '../model/region-layout.ts';
import { allowedCpus, threadId } from '../os/affinity.ts';
import { EngineCells } from './engine-cells.ts';
import { Marker, type Place } from './marker.ts';
import { openMeeting } from './meeting-folder.ts';
import { hintNumber } from './names.ts';
import { openOwnPage, type Page, pageFileName, ringCapacityFrom } from './page-file.ts';
import { claimSlot, releaseSlot } from './thread-slot.ts';

/** A part of the program that is measured on its own. Each thread gets its own object. */
export interface Region {
  readonly name: string;
  /** What the region waits for or uses. That of the first call that named the region, in any thread. */
  readonly hint: Hint;
  /** CRC-32 of the name: how traces and agents call the region. */
  readonly hash: number;
  /** Whether anybody keeps what is marked. */
  readonly attached: boolean;
  /** The thread is in this region until exit(). Regions nest. Costs tens of nanoseconds; allocates nothing. */
  enter(): void;
  /** Leaves the region. Out of order: what was entered since is left too; never entered: nothing. Both are counted. */
  exit(): void;
  /**
   * Runs `work` in the region, which is left however it ends. Where it returns a promise the time until that
   * settles counts as asynchronous: such spans overlap, so they are counted apart and never attributed.
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

class AttachedRegion implements Region, Place {
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

/** Of the pages: the one named, or that of a controller which the user started elsewhere. */
const folder = process.env[ENV_DIR] || (process.env[ENV_FILTER] ? openMeeting() : null);
const warn = (message: string) => process.emitWarning(message, 'RegionWarning');

/** Undefined: not asked for yet. A process that marks nothing has no page. */
let page: Page | null | undefined;
/** Of this thread; undefined: not asked for yet. */
let marker: Marker | null | undefined;

/** Whether GEOPM_PROGRAM_FILTER, where there is one, names this program: its script, or Node. */
function isWanted(name: string): boolean {
  const list = (process.env[ENV_FILTER] ?? '').split(/[, ]+/).filter((word) => word !== '');
  return list.length === 0 || list.some((word) => word === name || word === 'node');
}

function attach(): Page | null {
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
 * The region called `name`. The same name gives the same region, with the hint that it was given first.
 * @param hint what the region waits for or uses; 'unknown' where absent
 * @throws RangeError hint of another name
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
    // No place for the name: all such share one region, and no memory is spent on their names.
    overflow ??= made;
    return overflow;
  }
  if (regions.size < MOST_KEPT) regions.set(name, made);
  return made;
}

/** Regions that are remembered by name; more than a page holds. */
const MOST_KEPT = 8192;

/** Spans of asynchronous work that overlap each other: counted and timed, never attributed. */
export interface AsyncSpans {
  /** A span begins; what end() wants to hear of it. */
  begin(): number;
  end(began: number): void;
}

/** The asynchronous spans called `name`; null where nobody keeps them. @throws RangeError hint of another name */
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

/** Where an engine of this thread keeps its counts; null where nobody does. */
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
 * Announces `units` of work that the process's threads together will do in the region that they are in; each of them
 * may say so. One or fewer: none, as in GEOPM.
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
 * Ends the application's time, for reports: whatever is marked later is ignored. Called automatically at a normal exit. After
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
    // Workers alone may have marked.
    if (isMainThread && existsSync(join(folder, pageFileName()))) page ??= attach();
    if (isMainThread) shutdown();
    if (page && marker) releaseSlot(page, marker.slot);
  });
}
