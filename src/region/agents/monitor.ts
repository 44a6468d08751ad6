/** monitor: samples, and changes nothing. */
import { type AgentKind, IDLE } from './agent.ts';

export const monitor: AgentKind = {
  name: 'monitor',
  help: 'samples, and changes nothing',
  period: 0.2,
  policy: [],
  open: () => ({ ...IDLE, mayLag: true }),
};
