/**
 * Counts of processors and of the kernel, for all programs on each CPU: instructions per cycle without MSRs. Source:
 * perf_event_open(2), linux/perf_event.h.
 */
import { PerfCounter } from '../../os/perf.ts';
import { NOTHING, type Provider, type Signal, type SignalDeclaration } from './provider.ts';

const HARDWARE = 0;
const SOFTWARE = 1;

type Event = SignalDeclaration & { readonly type: number; readonly config: number };

const event = (
  name: string,
  description: string,
  type: number,
  config: number,
  alias?: string,
): Event => ({
  name: `PERF::${name}`,
  ...(alias !== undefined && { alias }),
  description,
  unit: '',
  domain: 'cpu',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
  type,
  config,
});

const EVENTS: readonly Event[] = [
  event('INSTRUCTIONS', 'Instructions retired', HARDWARE, 1, 'CPU_INSTRUCTIONS_RETIRED'),
  event('CYCLES', 'Cycles while not halted', HARDWARE, 0),
  event('REFERENCE_CYCLES', 'Cycles while not halted, at a fixed frequency', HARDWARE, 9),
  event('CACHE_REFERENCES', 'Accesses to the last level of cache', HARDWARE, 2),
  event('CACHE_MISSES', 'Accesses that the last level of cache did not have', HARDWARE, 3),
  event('CONTEXT_SWITCHES', 'Changes from one thread to another', SOFTWARE, 3),
  event('CPU_MIGRATIONS', 'Threads that came from another CPU', SOFTWARE, 4),
  event('PAGE_FAULTS', 'Page faults', SOFTWARE, 2),
];

const declarationOf = ({ type: _t, config: _c, ...declaration }: Event): SignalDeclaration =>
  declaration;

export const perf: Provider = {
  name: 'perf',
  source:
    'perf_event_open(2): needs a processor that counts, and root, CAP_PERFMON or a /proc/sys/kernel/perf_event_paranoid of 0 or less',
  declares: EVENTS.map(declarationOf),
  open({ machine }) {
    if (!machine.isThisMachine) return NOTHING;
    const [first = 0] = machine.topology.indices('cpu');
    const counters: PerfCounter[] = [];
    const signals = EVENTS.flatMap((one): Signal[] => {
      const probe = PerfCounter.open(one.type, one.config, first);
      if (probe === null) return [];
      probe.close();
      const open = (cpu: number) => {
        const counter = PerfCounter.open(one.type, one.config, cpu);
        if (counter === null) return null;
        counters.push(counter);
        const began = counter.read() ?? 0n;
        // The increase is exact as a double; the counter itself need not be.
        const read = () => {
          const now = counter.read();
          return now === null ? Number.NaN : Number(now - began);
        };
        return { read };
      };
      return [{ ...declarationOf(one), open }];
    });
    return {
      signals,
      close: () => {
        for (const counter of counters) counter.close();
      },
    };
  },
};
