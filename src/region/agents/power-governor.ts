/**
 * power_governor: keeps all packages together below a power limit, by their RAPL limit. Source: GEOPM's
 * geopm_agent_power_governor(7).
 */
import {
  type Agent,
  type AgentContext,
  type AgentKind,
  IDLE,
  type Policy,
  PolicyError,
} from './agent.ts';

const LIMIT = 'CPU_POWER_LIMIT';
const CONTROL = 'CPU_POWER_LIMIT_CONTROL';
/** Thermal design power: the limit if the policy has none. */
const DEFAULT = 'CPU_POWER_LIMIT_DEFAULT';

export const powerGovernor: AgentKind = {
  name: 'power_governor',
  help: 'keeps the packages together below a power limit',
  period: 0.005,
  policy: [
    {
      name: LIMIT,
      unit: 'W',
      help: 'limit of all packages of a host together; where absent: their thermal design power',
    },
  ],
  open,
};

function open({ platform, allowControl, warn }: AgentContext): Agent {
  const packages = platform.domainCount('package');
  // It is pushed before anything is written, so that its present setting can be saved.
  const control = allowControl ? platform.controls.push(CONTROL, 'board', 0) : -1;
  if (control < 0) {
    warn('power_governor changes nothing: --allow-control permits it to write power limits');
  }
  // A constant, read once: the limit of a policy that has none.
  const most = platform.info(DEFAULT) === null ? Number.NaN : platform.read(DEFAULT, 'board', 0);
  const limitOf = (policy: Policy) => (Number.isNaN(policy[LIMIT]) ? most : policy[LIMIT]);
  let budget = Number.NaN;
  return {
    ...IDLE,
    mayLag: true,
    validatePolicy: (policy) => {
      const limit = limitOf(policy);
      if (Number.isNaN(limit)) {
        throw new PolicyError(
          `power_governor: the policy lacks ${LIMIT}, in W, and this machine does not tell its thermal design power`,
        );
      }
      if (!(limit > 0)) {
        throw new PolicyError(`power_governor: ${LIMIT} ${limit}: must be above 0 W`);
      }
    },
    adjust: (policy) => {
      const limit = limitOf(policy);
      if (control < 0 || limit === budget) return;
      budget = limit;
      platform.controls.adjust(control, budget);
    },
    // Without permission no limit is written. The report's head has the policy; these lines have what was applied here.
    reportHost: () =>
      control < 0 || Number.isNaN(budget)
        ? IDLE.reportHost()
        : new Map([['Power limit of each package (W)', budget / packages]]),
    traceColumns: [{ name: 'POWER_BUDGET', format: 'double' }],
    trace: (values, at) => {
      values[at] = budget;
    },
  };
}
