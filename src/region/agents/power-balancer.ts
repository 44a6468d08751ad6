/**
 * power_balancer: hosts (and packages) whose epochs are short give power to those whose epochs are long, under a limit that
 * holds on average. Source: GEOPM's geopm_agent_power_balancer(7).
 *
 * Three steps are repeated. 0: each host gets its share of the power that is left. 1: each measures its epochs. 2: each lowers its
 * packages' limits until their epochs take as long as those of the slowest host; the power saved is shared in step 0. The
 * first host orders the next step when all hosts have finished the one before. A single host balances its packages.
 */
import {
  type Agent,
  type AgentContext,
  type AgentKind,
  IDLE,
  type Policy,
  PolicyError,
} from './agent.ts';
import { PackageBalance } from './package-balance.ts';

const LIMIT = 'CPU_POWER_LIMIT';
const CONTROL = 'CPU_POWER_LIMIT_CONTROL';
const WINDOW_CONTROL = 'CPU_POWER_TIME_WINDOW_CONTROL';
const MOST = ['CPU_POWER_MAX_AVAIL', 'CPU_POWER_LIMIT_DEFAULT'];
const LEAST = 'CPU_POWER_MIN_AVAIL';
/** Seconds over which a limit holds as a mean. It has had its effect after three times as long. */
const WINDOW_SECONDS = 0.015;
const SETTLE_SECONDS = 3 * WINDOW_SECONDS;
/** The minimum, as a share of the maximum, where the machine does not give it. */
const LEAST_SHARE = 0.5;
/** GEOPM's fields for messages between its agents. They are accepted, because existing policies may contain them. */
const MESSAGES = ['STEP_COUNT', 'MAX_EPOCH_RUNTIME', 'POWER_SLACK'];

export const powerBalancer: AgentKind = {
  name: 'power_balancer',
  help: 'keeps hosts below a power limit on average, and gives more to those with longer epochs',
  period: 0.005,
  policy: [
    {
      name: LIMIT,
      unit: 'W',
      help: 'limit of all packages of a host together, on average over hosts; where absent: their thermal design power',
    },
    ...MESSAGES.map((name) => ({ name, unit: '', help: 'no effect: as GEOPM’s policies have it' })),
  ],
  open,
};

/** An order of the first host. As numbers: round, watts of a new limit or 0, step, slowest epoch in s, watts for each host. */
interface Order {
  /** Number of limits that were ordered so far. */
  readonly round: number;
  readonly limit: number;
  readonly step: number;
  readonly runtime: number;
  readonly slack: number;
}

/** A host's answer when it has finished a step. */
interface Told {
  readonly round: number;
  readonly step: number;
  readonly runtime: number;
  readonly slack: number;
  /** W by which all its limits together could still rise. */
  readonly headroom: number;
}

const orderOf = ([round, limit, step, runtime, slack]: readonly number[]): Order => {
  return { round, limit, step, runtime, slack };
};
const toldOf = ([round, step, runtime, slack, headroom]: readonly number[]): Told => {
  return { round, step, runtime, slack, headroom };
};

/** The order that follows `last`, once all hosts have finished that. */
function nextOrder(last: Order, told: readonly Told[]): Order {
  const next = { ...last, limit: 0, step: last.step + 1 };
  if (last.step % 3 === 1) return { ...next, runtime: Math.max(...told.map((one) => one.runtime)) };
  if (last.step % 3 === 0) return next;
  const slack = told.reduce((sum, one) => sum + one.slack, 0) / told.length;
  return { ...next, slack: Math.min(slack, ...told.map((one) => one.headroom)) };
}

/** A package: its limit, and the time of its last epoch. */
interface Package {
  readonly balance: PackageBalance;
  readonly control: number;
  readonly epochs: number;
  /** Handles of the signals whose time is not part of an epoch. */
  readonly waits: readonly number[];
  /** W that were written; NaN if nothing was. */
  written: number;
  count: number;
  time: number;
  waited: number;
  done: boolean;
}

function open({ platform, allowControl, warn, peers }: AgentContext): Agent {
  const read = (name: string) =>
    platform.info(name) === null ? Number.NaN : platform.read(name, 'package', 0);
  const most = MOST.map(read).find((watts) => watts > 0) ?? Number.NaN;
  const least = read(LEAST) > 0 ? read(LEAST) : most * LEAST_SHARE;
  const design = platform.info(MOST[1]) === null ? Number.NaN : platform.read(MOST[1], 'board', 0);
  const packages = (allowControl ? platform.topology.indices('package') : []).map(
    (index): Package => ({
      balance: new PackageBalance(SETTLE_SECONDS),
      control: platform.controls.push(CONTROL, 'package', index),
      epochs: platform.push('EPOCH_COUNT', 'package', index),
      waits: ['TIME_HINT_NETWORK', 'TIME_HINT_IGNORE'].map((name) =>
        platform.push(name, 'package', index),
      ),
      ...{ written: Number.NaN, count: 0, time: Number.NaN, waited: 0, done: true },
    }),
  );
  if (packages.length === 0) {
    warn('power_balancer changes nothing: --allow-control permits it to write power limits');
  }
  const hasWindow = platform.controls.list().some(({ alias }) => alias === WINDOW_CONTROL);
  const window =
    packages.length > 0 && hasWindow ? platform.controls.push(WINDOW_CONTROL, 'board', 0) : -1;
  const leads = peers === null || peers.leads;
  const limitOf = (policy: Policy) => (Number.isNaN(policy[LIMIT]) ? design : policy[LIMIT]);
  let now = 0;
  /** On the first host: W of the policy, and the last order. */
  let budget = Number.NaN;
  let ordered: Order | null = null;
  /** The order that this host follows, and its last answer. */
  let order: Order | null = null;
  let hasTold = true;
  let told: Told | null = null;

  /** The first host, or the only one, orders the next step. */
  const lead = (policy: Policy) => {
    const limit = limitOf(policy);
    if (limit !== budget || ordered === null) {
      budget = limit;
      ordered = { round: (ordered?.round ?? 0) + 1, limit, step: 0, runtime: 0, slack: 0 };
    } else {
      const { round, step } = ordered;
      const own = told === null ? [] : [told];
      const all = peers === null ? own : (peers.told() ?? []).map(toldOf);
      const done = all.length > 0 && all.every((one) => one.round === round && one.step === step);
      if (!done) return;
      ordered = nextOrder(ordered, all);
    }
    const { round, step, runtime, slack } = ordered;
    peers?.order([round, ordered.limit, step, runtime, slack]);
  };

  /** The order to follow; null before the first. */
  const latest = (): Order | null => {
    if (leads) return ordered;
    const message = peers.ordered();
    return message === null ? null : orderOf(message);
  };

  const enter = (next: Order) => {
    if (order === null) shorten();
    order = next;
    hasTold = false;
    const step = next.step % 3;
    if (next.limit > 0)
      for (const { balance } of packages) balance.allow(next.limit / packages.length);
    else if (step === 0) share(packages, next.slack, most);
    else if (step === 2) for (const { balance } of packages) balance.aim(next.runtime);
    for (const one of packages) one.done = step === 0;
  };

  /** Sets the time over which limits hold to a short one, where the machine has such a control. */
  const shorten = () => {
    try {
      if (window >= 0) platform.controls.adjust(window, WINDOW_SECONDS);
    } catch (error) {
      warn(
        `power_balancer: the time window of power limits could not be shortened: ${(error as Error).message}`,
      );
    }
  };

  const write = () => {
    for (const one of packages) {
      const { balance } = one;
      const watts = Math.max(balance.limit, least || 0);
      if (Number.isNaN(watts) || watts === one.written) continue;
      platform.controls.adjust(one.control, watts);
      one.written = watts;
      balance.applied(watts, now);
    }
  };

  const tell = () => {
    if (order === null || hasTold || packages.some(({ done }) => !done)) return;
    hasTold = true;
    const { round, step } = order;
    // There is nothing to report before the first epochs.
    const runtimes = packages.map(({ balance }) => balance.runtime || 0);
    const slack =
      step % 3 === 2 ? packages.reduce((sum, { balance }) => sum + balance.leave(), 0) : 0;
    const above = packages.reduce((sum, { balance }) => sum + (most - balance.limit), 0);
    // Where the machine does not give its maximum, no limit rises above the average.
    const headroom = Number.isNaN(most) ? slack : Math.max(0, above);
    told = { round, step, runtime: Math.max(...runtimes), slack, headroom };
    peers?.tell([round, step, told.runtime, slack, headroom]);
  };

  return {
    ...IDLE,
    validatePolicy: (policy) => {
      const limit = limitOf(policy);
      if (Number.isNaN(limit)) {
        throw new PolicyError(
          `power_balancer: the policy lacks ${LIMIT}, in W, and this machine does not tell its thermal design power`,
        );
      }
      const count = platform.domainCount('package');
      if (!(limit > 0))
        throw new PolicyError(`power_balancer: ${LIMIT} ${limit}: must be above 0 W`);
      if (limit / count < least || limit / count > most) {
        throw new PolicyError(
          `power_balancer: ${LIMIT} ${limit}: this machine has ${least * count} to ${most * count} W`,
        );
      }
    },
    adjust: (policy) => {
      if (packages.length === 0) return;
      if (leads) lead(policy);
      const next = latest();
      if (next !== null && (next.round !== order?.round || next.step !== order.step)) enter(next);
      write();
    },
    sample: ({ time }) => {
      now = time;
      for (const one of packages) {
        const seconds = epochOf(one, time, (handle) => platform.sample(handle));
        if (one.done || order === null || Number.isNaN(seconds)) continue;
        const { balance } = one;
        one.done =
          order.step % 3 === 1 ? balance.measure(seconds, time) : balance.approach(seconds, time);
      }
      tell();
    },
    // Without permission no limit is written. Only limits that were applied are reported.
    reportHost: () => {
      const written = packages.filter((one) => !Number.isNaN(one.written));
      if (written.length === 0) return IDLE.reportHost();
      return new Map<string, number>([
        ['Power limit at the end (W)', written.reduce((sum, one) => sum + one.written, 0)],
        ['Steps of the balancer', order?.step ?? 0],
      ]);
    },
    traceColumns: [
      { name: 'POLICY_CPU_POWER_LIMIT', format: 'double' },
      { name: 'POLICY_STEP_COUNT', format: 'integer' },
      { name: 'POLICY_MAX_EPOCH_RUNTIME', format: 'double' },
      { name: 'POLICY_POWER_SLACK', format: 'double' },
      { name: 'ENFORCED_POWER_LIMIT', format: 'double' },
    ],
    trace: (values, at) => {
      const { limit, step, runtime, slack } = order ?? orderOf([]);
      const enforced = packages.reduce((sum, one) => sum + one.written, 0);
      for (const [k, value] of [limit, step, runtime, slack, enforced].entries()) {
        values[at + k] = value ?? Number.NaN;
      }
    },
  };
}

/** Gives each package the same part of `slack`, in W; what a package cannot use because of its maximum goes to the others. */
function share(packages: readonly Package[], slack: number, most: number): void {
  const roomOf = ({ balance }: Package) =>
    Number.isNaN(most) ? Number.POSITIVE_INFINITY : Math.max(0, most - balance.limit);
  const even = Math.min(slack / packages.length, ...packages.map(roomOf));
  const rest = slack - even * packages.length;
  const rooms = packages.map((one) => roomOf(one) - even);
  const room = rooms.reduce((sum, watts) => sum + watts, 0);
  for (const [k, { balance }] of packages.entries()) {
    const more = rest > 0 && room > 0 ? Math.min(rooms[k], (rest * rooms[k]) / room) : 0;
    balance.allow(balance.limit + even + more);
  }
}

/** Duration of the package's last epoch in s, without its waiting time; NaN if none has ended since the last sample. */
function epochOf(one: Package, time: number, sample: (handle: number) => number): number {
  const count = sample(one.epochs);
  if (Number.isNaN(count) || count === one.count) return Number.NaN;
  const waited = one.waits.reduce((sum, handle) => sum + (sample(handle) || 0), 0);
  const passed = (time - one.time - (waited - one.waited)) / (count - one.count);
  // The first epoch begins at the start of the application, before its loop.
  const seconds = one.count > 0 && count > one.count ? Math.max(0, passed) : Number.NaN;
  Object.assign(one, { count, time, waited });
  return seconds;
}
