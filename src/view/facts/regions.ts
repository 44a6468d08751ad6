/** What the routes about regions answer. Types only: the page has them too. */

export interface RegionColumn {
  /** As in table geopm_region. */
  readonly key: string;
  readonly unit: string;
  readonly help: string;
}

export interface RegionRow {
  /** Host; where there are several reports of it, which one too. */
  readonly host: string;
  /** The host alone, as traces and processes name it. */
  readonly node: string;
  /** `unmarked`, `epoch` and `application` are totals. */
  readonly section: 'region' | 'unmarked' | 'epoch' | 'application';
  readonly region: string;
  readonly hash: number;
  /** By column; null where the report has none. */
  readonly values: readonly (number | null)[];
}

/** A region of one process. */
export interface ProcessRegion {
  readonly host: string;
  readonly process: number;
  /** Such as `rank 3` or `solver 4711`. */
  readonly name: string;
  readonly region: string;
  readonly count: number;
  /** Seconds, from exact entries and exits. */
  readonly runtime: number;
}

/** A place in the hierarchy of regions, summed over threads and processes. */
export interface RegionPlace {
  readonly host: string;
  /** Names from the outermost region down, itself included. */
  readonly path: readonly string[];
  readonly count: number;
  /** Seconds, those deeper included. */
  readonly runtime: number;
  /** Asynchronous spans, which overlap: they have no share of the time. */
  readonly overlapping: boolean;
}

export interface TraceFacts {
  readonly host: string;
  /** On the page's time axis. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** `host`, then CPUs in order. */
  readonly lanes: readonly string[];
  readonly signals: readonly { readonly key: string; readonly unit: string }[];
}

export interface ProfileFacts {
  readonly host: string;
  readonly from: number;
  readonly to: number;
  readonly processes: readonly number[];
}

/** What a session reported of a signal: key of the statistic → value. */
export interface SessionSignal {
  /** Which of the reports, from 1 on: sessions write one after the other. */
  readonly report: number;
  readonly host: string;
  readonly signal: string;
  readonly statistics: Readonly<Record<string, number>>;
}

export interface RegionFacts {
  /** False: nothing here is about regions. */
  readonly available: boolean;
  readonly columns: readonly RegionColumn[];
  readonly rows: readonly RegionRow[];
  readonly processes: readonly ProcessRegion[];
  /** Where the processes' times are from. */
  readonly processesFrom: 'report' | 'profile trace' | null;
  readonly places: readonly RegionPlace[];
  readonly sessions: readonly SessionSignal[];
  readonly traces: readonly TraceFacts[];
  readonly profiles: readonly ProfileFacts[];
  /** Names of the hashes in traces, as far as reports name them. */
  readonly names: readonly (readonly [hash: number, name: string])[];
  /** What is doubtful, one sentence each. */
  readonly suspects: readonly string[];
}

/** A stretch of a lane: bins `from` to `to`, the second not included. */
export interface LaneSpan {
  readonly from: number;
  readonly to: number;
  /** Region that had the most of it; 0: the CPU is not used. */
  readonly hash: number;
  /** Its share of the time there: 1 where nothing else was. */
  readonly share: number;
}

export interface RegionLane {
  readonly name: string;
  readonly spans: readonly LaneSpan[];
  /** Beginnings of epochs, seconds; if there are too many, the first of each bin. */
  readonly epochs: readonly number[];
  /** Seconds from which on the lane is doubtful, with the reason. */
  readonly suspect?: { readonly from: number; readonly what: string };
}

export interface LanesFacts {
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  readonly lanes: readonly RegionLane[];
}
