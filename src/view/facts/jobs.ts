/** What the routes about jobs answer. Types only: the page has them too. */

import type { AccountedJob } from '../../findings/job/accounting.ts';
import type { Gauge } from '../../findings/job/gauges.ts';
import type { JobRow } from '../../findings/job/job-rows.ts';
import type { GroupRow } from '../../findings/job/kept-jobs.ts';
import type { Finding, NotExamined } from '../../model/finding.ts';
import type { NodeMetric, ShownNodeType } from './nodes.ts';

export interface JobListRow extends JobRow {
  /** `first` and `last` on the page's time axis, seconds. */
  readonly from: number;
  readonly to: number;
}

export interface JobListFacts {
  /** False: the recording has no raw stats files. */
  readonly available: boolean;
  /** By their first record; of very many that were found, the latest. */
  readonly jobs: readonly JobListRow[];
  /** Jobs that the search found. */
  readonly found: number;
  /** All jobs, whatever was searched for. */
  readonly total: number;
  /** Names that a condition may use. */
  readonly columns: readonly string[];
  readonly flags: readonly { readonly name: string; readonly means: string }[];
  readonly problems: readonly string[];
}

/** Sums of jobs, as `node jobs --by` prints them. */
export interface JobSumsFacts {
  readonly by: string;
  /** Null: the archive has no job index, which they need. */
  readonly groups: readonly GroupRow[] | null;
}

/** What jobs did on each host, by days. */
export interface HostDaysFacts {
  /** UTC: `2026-03-01`, those with jobs. */
  readonly days: readonly string[];
  /** Seconds of each day between the first and the last record of all jobs. */
  readonly lengths: readonly number[];
  /** Hosts that the archive has records of, without any of these jobs; null where the user may not know. */
  readonly idle: readonly string[] | null;
  /** Null: the archive has no job index. Of a day without jobs all is null. */
  readonly hosts:
    | readonly {
        readonly host: string;
        /** Seconds of jobs; seconds with several jobs count once for each. */
        readonly seconds: readonly (number | null)[];
        /** Seconds with a job, or several. */
        readonly busy: readonly (number | null)[];
        readonly flagged: readonly (number | null)[];
        /** Busy CPUs by CPUs of these jobs on all their hosts, by their seconds here. */
        readonly efficiency: readonly (number | null)[];
      }[]
    | null;
}

interface JobHost {
  readonly host: string;
  readonly groups: number;
  readonly first: string | null;
  readonly last: string | null;
  readonly begin: string | null;
  readonly end: string | null;
  readonly other_jobs: readonly string[];
  readonly reboots: number;
}

interface JobMetricFacts {
  readonly set: string;
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly formula: string;
  /** What it is computed from; `name` is `type.key`. */
  readonly inputs: readonly { readonly name: string }[];
  readonly note?: string;
  readonly lacks?: string;
  /** Why the value is doubtful. */
  readonly doubt?: string;
}

interface JobFlagFacts {
  readonly flag: string;
  /** Those of its metric. */
  readonly set: string;
  readonly metric: string;
  readonly condition: string;
  readonly result: 'pass' | 'flagged' | 'not available';
  readonly value: number | null;
  readonly why?: string;
  readonly means: string;
}

/** A job as `node job --json` prints it, without courses in time, which are asked for one by one. */
export interface JobPageFacts {
  /** `*`: everything that the hosts did. */
  readonly id: string;
  readonly accounting: Omit<AccountedJob, 'id' | 'hosts' | 'place'> | null;
  /** ISO 8601. */
  readonly from: string | null;
  readonly to: string | null;
  readonly seconds: number | null;
  /** On the page's time axis. */
  readonly span: readonly [number, number] | null;
  readonly hosts: readonly JobHost[];
  readonly missing: readonly { readonly host: string; readonly why: string }[];
  readonly metrics: readonly JobMetricFacts[];
  readonly flags: readonly JobFlagFacts[];
  /** The findings about the job. */
  readonly findings: readonly Finding[];
  readonly notExamined: readonly NotExamined[];
  readonly gauges: readonly Gauge[];
  readonly balance: readonly {
    readonly host: string;
    readonly cores: number;
    readonly behind: number;
  }[];
  readonly processes: readonly {
    readonly host: string;
    readonly name: string;
    readonly pid: string;
    readonly threads: number | null;
    readonly highWater: number | null;
  }[];
  /** Number of processes; more than are listed where the list was cut. */
  readonly processCount: number;
  readonly repairs: readonly {
    readonly type: string;
    readonly key: string;
    readonly ok: number;
    readonly wrapped: number;
    readonly dip: number;
    readonly reset: number;
    readonly suspect: number;
  }[];
  readonly notes: readonly string[];
  readonly oddities: readonly {
    readonly host: string;
    readonly place: string;
    readonly what: string;
    readonly time: number | null;
  }[];
  readonly tracks: readonly NodeMetric[];
  readonly types: readonly ShownNodeType[];
}
