/**
 * Policies from a JSON file that is checked while the application runs: the program that steers the agent replaces it. A text that
 * is not a policy is reported once, and the previous policy stays in force.
 */
import { readFileSync, statSync } from 'node:fs';
import {
  type Agent,
  type AgentKind,
  type Policy,
  PolicyError,
  parsePolicy,
} from '../agents/index.ts';

/** Seconds between checks. */
const LOOK_SECONDS = 0.05;

export class Endpoint {
  private readonly path: string;
  private readonly kind: AgentKind;
  private readonly agent: Agent;
  private readonly warn: (message: string) => void;
  private stamp = '';
  private looked = Number.NEGATIVE_INFINITY;
  private _policy: Policy | null = null;

  constructor(path: string, kind: AgentKind, agent: Agent, warn: (message: string) => void) {
    this.path = path;
    this.kind = kind;
    this.agent = agent;
    this.warn = warn;
  }

  /** The present policy; null before the first. @param time s since time zero */
  policy(time: number): Policy | null {
    if (time - this.looked < LOOK_SECONDS) return this._policy;
    this.looked = time;
    const file = statSync(this.path, { throwIfNoEntry: false });
    const stamp = file?.isFile() ? `${file.mtimeMs} ${file.size} ${file.ino}` : '';
    if (stamp === this.stamp || stamp === '') return this._policy;
    this.stamp = stamp;
    try {
      const policy = parsePolicy(this.kind, readFileSync(this.path, 'utf8'), this.path);
      this.agent.validatePolicy(policy);
      this._policy = policy;
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      this.warn(`${error.message}; the policy before it holds`);
    }
    return this._policy;
  }
}
