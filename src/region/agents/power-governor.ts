/**
 * power_governor: keeps all packages together below a power limit, by their RAPL limit. Source: GEOPM's
 * geopm_agent_power_governor(7).
 */
import { type Agent, type AgentContext, type AgentKind, IDLE, PolicyError } from './agent.ts';

const LIMIT = 'CPU_POWER_LIMIT';
const CONTROL = 'CPU_POWER_LIMIT_CONTROL';

export const powerGovernor: AgentKind = {
  name: 'power_governor',
  help: 'keeps the packages together below a power limit',
  period: 0.005,
  policy: [{ name: LIMIT, unit: 'W', help: 'limit of all packages of a host together' }],
  open,
};

function open({ platform, allowControl, warn }: AgentContext): Agent {
  const packages = platform.domainCount('package');
  // Before anything is written, so that what is there now can be kept.
  const control = allowControl ? platform.controls.push(CONTROL, 'board', 0) : -1;
  if (control < 0) {
    warn('power_governor changes nothing: --allow-control permits it to write power limits');
  }
  let budget = Number.NaN;
  return {
    ...IDLE,
    mayLag: true,
    validatePolicy: (policy) => {
      if (Number.isNaN(policy[LIMIT])) {
        throw new PolicyError(`power_governor: the policy lacks ${LIMIT}, in W`);
      }
      if (!(policy[LIMIT] > 0)) {
        throw new PolicyError(`power_governor: ${LIMIT} ${policy[LIMIT]}: it is more than 0 W`);
      }
    },
    adjust: (policy) => {
      if (control < 0 || policy[LIMIT] === budget) return;
      budget = policy[LIMIT];
      platform.controls.adjust(control, budget);
    },
    // Without permission nothing is limited: the policy stands in the report's head, what was applied here.
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
