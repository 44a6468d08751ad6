/** Policies as text: JSON objects of numbers; "NAN" and null stand for a number that is not given. */
import { type AgentKind, type Policy, PolicyError } from './agent.ts';

/**
 * @param where the text's origin for messages: a path
 * @throws PolicyError if the text is not a policy of this agent
 */
export function parsePolicy(kind: AgentKind, text: string, where: string): Policy {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch (error) {
    throw new PolicyError(`${where}: not JSON: ${(error as Error).message}`);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new PolicyError(`${where}: a policy is a JSON object, such as {"NAME": 1.5}`);
  }
  const policy: Record<string, number> = {};
  for (const { name } of kind.policy) policy[name] = Number.NaN;
  for (const [name, value] of Object.entries(object)) {
    if (!(name in policy)) {
      const names = kind.policy.map((field) => field.name);
      const takes = names.length === 0 ? 'no policy' : names.slice(0, 6).join(', ');
      throw new PolicyError(`${where}: ${name} is not a setting of ${kind.name} (${takes})`);
    }
    policy[name] = numberFrom(value, `${where}: ${name}`);
  }
  return policy;
}

function numberFrom(value: unknown, where: string): number {
  if (value === null || (typeof value === 'string' && /^nan$/i.test(value))) return Number.NaN;
  if (typeof value === 'number') return value;
  // Hashes are written as hexadecimal text.
  if (typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)) return Number(value);
  throw new PolicyError(`${where}: ${JSON.stringify(value)} is not a number`);
}

/** The policy in one line, as reports have it: fields that are given, and NAN for the others; if none is given, the list is empty. */
export function policyText(policy: Policy): string {
  const given = Object.entries(policy).filter(([, value]) => !Number.isNaN(value));
  return `{${given.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`;
}
