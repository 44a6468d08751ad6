/** The agents. A new one is a file and an entry here; a user's own is a module, whose path `--geopm-agent` gives. */
import { pathToFileURL } from 'node:url';
import { EXIT, TriscopeError } from '../../model/error.ts';
import type { AgentKind } from './agent.ts';
import { cpuActivity } from './cpu-activity.ts';
import { frequencyMap } from './frequency-map.ts';
import { gpuActivity } from './gpu-activity.ts';
import { monitor } from './monitor.ts';
import { powerBalancer } from './power-balancer.ts';
import { powerGovernor } from './power-governor.ts';

const AGENTS: readonly AgentKind[] = [
  monitor,
  powerBalancer,
  powerGovernor,
  frequencyMap,
  cpuActivity,
  gpuActivity,
];

/** No agent has that name, or the module exports none. */
class AgentError extends TriscopeError {
  override readonly name = 'AgentError';
  override readonly exitCode = EXIT.usage;
}

/** @param name of an agent, or the path of a module @throws AgentError */
export async function loadAgent(name: string): Promise<AgentKind> {
  const known = AGENTS.find((kind) => kind.name === name);
  if (known !== undefined) return known;
  if (!/[/\\]|\.[cm]?[jt]s$/.test(name)) {
    const names = AGENTS.map((kind) => kind.name).join(', ');
    throw new AgentError(`agent ${name}: must be one of ${names}, or the path of a module`);
  }
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(name).href)) as typeof module;
  } catch (error) {
    throw new AgentError(`agent ${name}: ${(error as Error).message}`);
  }
  if (!isKind(module.default)) {
    throw new AgentError(
      `agent ${name}: its default export is not an agent: { name, help, period, policy, open(context) }`,
    );
  }
  return module.default;
}

function isKind(value: unknown): value is AgentKind {
  if (typeof value !== 'object' || value === null) return false;
  const kind = value as Partial<AgentKind>;
  return (
    typeof kind.name === 'string' &&
    typeof kind.period === 'number' &&
    kind.period > 0 &&
    Array.isArray(kind.policy) &&
    typeof kind.open === 'function'
  );
}

export {
  type Agent,
  type AgentContext,
  type AgentKind,
  type AgentSample,
  IDLE,
  type Peers,
  type Policy,
  PolicyError,
  type PolicyField,
} from './agent.ts';
export { parsePolicy, policyText } from './policy.ts';
