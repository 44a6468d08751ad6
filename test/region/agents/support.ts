/** A machine for agents: its settings are files of a tree, what it does follows from them by a formula of the test. */
import type { Agent, AgentKind, Peers, Policy } from '../../../src/region/agents/agent.ts';
import { Platform } from '../../../src/region/platform.ts';
import type { Provider, SignalDeclaration } from '../../../src/region/signals/provider.ts';
import { type Files, Tree } from '../signals/support/tree.ts';

/** Values of signals now, by name: one for each index of the domain. */
export type Plant = Readonly<
  Record<string, { readonly domain: SignalDeclaration['domain']; readonly values: Float64Array }>
>;

const providerOf = (plant: Plant): Provider => {
  const signals = Object.entries(plant).map(([name, { domain, values }]) => ({
    ...{ name, domain, description: name, unit: '', behaviour: 'variable' },
    ...{ aggregation: 'average', format: 'double', computed: true },
    open: (index: number) => ({ read: () => values[index] }),
  })) as ReturnType<Provider['open']>['signals'];
  return { name: 'plant', source: 'a test', declares: signals, open: () => ({ signals }) };
};

/** One host whose agent runs in steps of the test's own time. */
export class Host {
  readonly tree: Tree;
  readonly agent: Agent;
  readonly warnings: string[] = [];
  readonly platform: Platform;
  time = 0;

  constructor(
    kind: AgentKind,
    files: Files,
    plant: Plant,
    peers: Peers | null = null,
    allowControl = true,
  ) {
    this.tree = new Tree(files);
    this.platform = Platform.open({
      ...{ root: this.tree.root, allowControl, providers: [providerOf(plant)] },
    });
    this.agent = kind.open({
      ...{ platform: this.platform, allowControl, peers },
      warn: (message) => this.warnings.push(message),
    });
  }

  /** `seconds` pass, then the agent sees the machine as it is, as a controller has it. */
  step(policy: Policy, seconds: number): void {
    this.time += seconds;
    this.platform.readBatch();
    this.agent.adjust(policy);
    this.agent.sample({ time: this.time, hash: 0, hint: 0, epochs: 0 });
  }

  /** The host's lines of the report. */
  report(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.agent.reportHost());
  }

  number(path: string): number {
    return Number.parseInt(this.tree.text(path), 10);
  }
}
