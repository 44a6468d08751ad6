/**
 * Agents: what steers the machine while an application runs, and says in the report what it did. The model is GEOPM's
 * Agent(3). An agent of one's own is a module whose default export is an `AgentKind`.
 */
import type { AgentFields, ReportFields, TraceColumn } from '../../formats/geopm/write.ts';
import type { Platform } from '../platform.ts';

/** A number that an agent is given. NaN: not given. */
export interface PolicyField {
  readonly name: string;
  readonly unit: string;
  readonly help: string;
}

/** Values by the names of an agent's policy fields. */
export type Policy = Readonly<Record<string, number>>;

/** A policy that an agent cannot take. Says which field, and what it may be. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

/** What an agent is told after each sample. The object is reused. */
export interface AgentSample {
  /** s since time zero. */
  time: number;
  /** Of the board: what all active CPUs agree upon. */
  hash: number;
  hint: number;
  epochs: number;
}

/** Agents of a job's other hosts: the first host's orders, all others tell. Messages are numbers; the latest of each counts. */
export interface Peers {
  /** Whether this is the first host. */
  readonly leads: boolean;
  /** To the first host; of the first host too. */
  tell(message: readonly number[]): void;
  /** What all hosts told last; null until all have told something. For the first host. */
  told(): readonly (readonly number[])[] | null;
  /** To all hosts. From the first host. */
  order(message: readonly number[]): void;
  /** What was ordered last; null: nothing yet. */
  ordered(): readonly number[] | null;
}

export interface AgentContext {
  readonly platform: Platform;
  /** Whether settings of the machine may be written. */
  readonly allowControl: boolean;
  /** Something that the user should know; printed once each. */
  readonly warn: (message: string) => void;
  /** Null where one host is all there is. */
  readonly peers: Peers | null;
}

export interface Agent {
  /**
   * Its `adjust`, `sample` and `trace` may come up to a second after the sample that they are about, for several in a
   * row. Not where it acts upon what was sampled.
   */
  readonly mayLag?: boolean;
  /** Looks at a policy before it is used. @throws PolicyError */
  validatePolicy(policy: Policy): void;
  /** Acts upon the policy, before each sample. */
  adjust(policy: Policy): void;
  /** Looks at what was sampled. */
  sample(sample: AgentSample): void;
  /** Lines for the report's header, for this host, for one region. */
  reportHeader(): AgentFields;
  reportHost(): AgentFields;
  reportRegion(hash: number): ReportFields;
  /** Columns of its own in the trace, and their values now, written from `at` on. */
  readonly traceColumns: readonly TraceColumn[];
  trace(values: Float64Array, at: number): void;
}

export interface AgentKind {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** Seconds between samples, unless the user says otherwise. */
  readonly period: number;
  readonly policy: readonly PolicyField[];
  open(context: AgentContext): Agent;
}

const NO_FIELDS = new Map<string, never>();

/** An agent that does nothing: what others spread, and then say what they do. */
export const IDLE: Agent = {
  validatePolicy: () => {},
  adjust: () => {},
  sample: () => {},
  reportHeader: () => NO_FIELDS,
  reportHost: () => NO_FIELDS,
  reportRegion: () => NO_FIELDS,
  traceColumns: [],
  trace: () => {},
};
