/**
 * Agents: an agent may change settings of the machine while an application runs, and adds to the report what it did. The model is GEOPM's
 * Agent(3). Users may write their own: a module whose default export is an `AgentKind`.
 */
import type { AgentFields, ReportFields, TraceColumn } from '../../formats/geopm/write.ts';
import { EXIT, TriscopeError } from '../../model/error.ts';
import type { Platform } from '../platform.ts';

/** A field of an agent's policy. NaN: not given. */
export interface PolicyField {
  readonly name: string;
  readonly unit: string;
  readonly help: string;
}

/** Values by the names of an agent's policy fields. */
export type Policy = Readonly<Record<string, number>>;

/** A policy that an agent cannot use. The message names the field and its valid values. */
export class PolicyError extends TriscopeError {
  override readonly name = 'PolicyError';
  override readonly exitCode = EXIT.usage;
}

/** What an agent receives after each sample. The object is reused. */
export interface AgentSample {
  /** s since time zero. */
  time: number;
  /** Region of the board: the one in which all active CPUs are. */
  hash: number;
  hint: number;
  epochs: number;
}

/** Messages between the agents of a job's hosts: the first host sends orders, all hosts send answers. Messages are arrays of numbers; only the latest of each counts. */
export interface Peers {
  /** Whether this is the first host. */
  readonly leads: boolean;
  /** Sends an answer to the first host; the first host does so, too. */
  tell(message: readonly number[]): void;
  /** The latest answers of all hosts, for the first host; null until every host has answered. */
  told(): readonly (readonly number[])[] | null;
  /** Sends an order to all hosts. Called on the first host. */
  order(message: readonly number[]): void;
  /** The latest order; null before the first. */
  ordered(): readonly number[] | null;
}

export interface AgentContext {
  readonly platform: Platform;
  /** Whether settings of the machine may be written. */
  readonly allowControl: boolean;
  /** Prints a warning for the user; each text once. */
  readonly warn: (message: string) => void;
  /** Null if there is only one host. */
  readonly peers: Peers | null;
}

export interface Agent {
  /**
   * Whether `adjust`, `sample` and `trace` may be called up to a second after their sample, for several samples in a
   * row. False for an agent that acts on the samples.
   */
  readonly mayLag?: boolean;
  /** Checks a policy before it is used. @throws PolicyError */
  validatePolicy(policy: Policy): void;
  /** Applies the policy, before each sample. */
  adjust(policy: Policy): void;
  /** Evaluates the latest sample. */
  sample(sample: AgentSample): void;
  /** Lines for the report's header, for this host, for one region. */
  reportHeader(): AgentFields;
  reportHost(): AgentFields;
  reportRegion(hash: number): ReportFields;
  /** The agent's own columns in the trace, and their present values, written to the array from index `at` on. */
  readonly traceColumns: readonly TraceColumn[];
  trace(values: Float64Array, at: number): void;
}

export interface AgentKind {
  readonly name: string;
  /** What the agent does, in one sentence. */
  readonly help: string;
  /** Seconds between samples if the user sets no period. */
  readonly period: number;
  readonly policy: readonly PolicyField[];
  open(context: AgentContext): Agent;
}

const NO_FIELDS = new Map<string, never>();

/** An agent that does nothing: others start from its members and override some. */
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
