/**
 * Frequencies by activity: between the most efficient one, above which idle hardware gains nothing, and the largest. Source: GEOPM's
 * geopm_agent_cpu_activity(7) and geopm_agent_gpu_activity(7).
 */
import { type Policy, PolicyError } from './agent.ts';

/** The phi that prefers neither performance nor energy. */
const EVEN = 0.5;
/** Hz: smaller changes than this are noise, and are not written. */
const STEP = 1e8;

export interface FrequencyRange {
  readonly efficient: number;
  readonly most: number;
}

/** The policy's phi; 0.5 where it is absent. */
export function phiOf(policy: Policy, field: string): number {
  return Number.isNaN(policy[field]) ? EVEN : policy[field];
}

/** @throws PolicyError */
export function checkPhi(agent: string, policy: Policy, field: string): void {
  const phi = phiOf(policy, field);
  if (!(phi >= 0 && phi <= 1)) {
    throw new PolicyError(`${agent}: ${field} ${phi}: must be from 0 (performance) to 1 (energy)`);
  }
}

/** The part of a range that phi allows: less than 0.5 raises its lower end, up to the upper; more than 0.5 lowers the upper end. */
export function biased({ efficient, most }: FrequencyRange, phi: number): FrequencyRange {
  const part = ((most - efficient) * Math.abs(phi - EVEN)) / EVEN;
  return phi > EVEN ? { efficient, most: most - part } : { efficient: efficient + part, most };
}

/**
 * The frequency in Hz for an activity from 0 to 1; the largest if the activity is unknown. A frequency that is set is kept if the new one is less than a step away: activity
 * itself depends on the frequency.
 * @param set the frequency that is set, Hz; NaN if none is
 */
export function frequencyAt(
  { efficient, most }: FrequencyRange,
  activity: number,
  set: number,
): number {
  if (Number.isNaN(activity)) return most;
  const hertz = efficient + (most - efficient) * activity;
  const isInside = hertz > efficient && hertz < most && set >= efficient && set <= most;
  if (isInside && Math.abs(hertz - set) < STEP) return set;
  return Math.min(most, Math.max(efficient, Math.round(hertz / STEP) * STEP));
}

/** Lines of the report, in Hz. */
export function rangeFields(range: FrequencyRange, of: string): [string, number][] {
  return [
    [`Resolved Maximum ${of}Frequency`, range.most],
    [`Resolved Efficient ${of}Frequency`, range.efficient],
    [`Resolved ${of}Frequency Range`, range.most - range.efficient],
  ];
}
