/** The tests of tacc_stats 2.3 (“exams”), by their names. Rates are averages per host. */
import { GIB } from '../../../model/bytes.ts';
import { highest, type JobView, MissingInput, summed } from '../view.ts';
import { behindByHost, leastAfterBefore } from './balance.ts';
import { doubles } from './flops.ts';
import { controllerBytes, highWater } from './memory.ts';
import { average, type JobMetric, type MetricFamily, quotient } from './metric.ts';
import { METADATA, metadata, PMC, pmc } from './types.ts';

const CYCLES = 'CLOCKS_UNHALTED_REF';
const max = (values: Iterable<number>) => Math.max(...values);

/** The peak memory bandwidth of a host in B/s, as measured by STREAM (tacc_stats' numbers). */
const PEAK: Readonly<Record<string, number>> = {
  intel_snb: 76e9,
  intel_ivb: 76e9,
  intel_hsw: 104e9,
};

/** The rates of `plus` minus those of `less`, summed over hosts; the highest of all intervals. */
function peakOf(
  view: JobView,
  plus: readonly [string, string][],
  less: readonly [string, string][] = [],
) {
  const add = ([type, key]: [string, string]) => summed(view.rates(type, key));
  const sum = new Float64Array(Math.max(0, view.times.length - 1));
  for (const one of plus)
    add(one).forEach((rate, k) => {
      sum[k] += rate;
    });
  for (const one of less)
    add(one).forEach((rate, k) => {
      sum[k] -= rate;
    });
  return max(sum);
}

const LNET: [string, string][] = [
  ['lnet', 'rx_bytes'],
  ['lnet', 'tx_bytes'],
];
const SWITCH: [string, string][] = [
  ['ib_sw', 'rx_bytes'],
  ['ib_sw', 'tx_bytes'],
];
const named = (pairs: readonly [string, string][]) => pairs.map(([type, key]) => `${type}.${key}`);

/** In one direction: packets a second of the busiest host, as far as the counters of switch and adapter agree. */
function packetRate(view: JobView, ofSwitch: string, ofAdapter: string): number {
  const adapter = view.rates('ib_ext', ofAdapter);
  let most = 0;
  for (const [host, rates] of view.rates('ib_sw', ofSwitch)) {
    const own = adapter.get(host);
    if (own !== undefined) most = Math.max(most, Math.min(max(rates), max(own)));
  }
  return most;
}

/** Standard deviation divided by mean of the hosts' average rates. */
function deviation(view: JobView): number {
  const totals = [...view.deviceTotals(pmc(view), 'LOAD_L1D_ALL').values()].map((devices) =>
    [...devices.values()].reduce((sum, value) => sum + value, 0),
  );
  if (totals.length < 2) throw new MissingInput('a second host');
  const mean = totals.reduce((sum, value) => sum + value, 0) / totals.length;
  const squares = totals.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (totals.length - 1)) / mean;
}

const PROCESSORS: readonly JobMetric[] = [
  quotient('HighCPI', PMC, CYCLES, 'INSTRUCTIONS_RETIRED', 'cycles/instruction'),
  quotient(
    'HighCPLD',
    PMC,
    CYCLES,
    'LOAD_L1D_ALL',
    'cycles/load',
    'The original reads a misspelt event, LOAD_1D_ALL, and is therefore always 1.',
  ),
  average('CPU_Usage', 'cpu', ['user'], 'cs/s'),
  average('Load_All', PMC, ['LOAD_OPS_ALL'], '1/s'),
  average('Load_L1Hits', PMC, ['LOAD_OPS_L1_HIT'], '1/s'),
  average('Load_L2Hits', PMC, ['LOAD_OPS_L2_HIT'], '1/s'),
  average('Load_LLCHits', PMC, ['LOAD_OPS_LLC_HIT'], '1/s'),
  {
    name: 'LowFLOPS',
    unit: 'GFLOPS',
    formula: 'as avg_flops_64b; of AMD family 10h ΔSSE_FLOPS / (10⁹ T N)',
    inputs: ['pmc.…', 'amd64_core.SSE_FLOPS'],
    note: 'The original fails where the events are named as since 2.3.1: it asks for SSE_D_ALL.',
    compute: (view) =>
      view.has('amd64_core', 'SSE_FLOPS')
        ? view.rate('amd64_core', 'SSE_FLOPS') / 1e9
        : doubles(view).flops / (view.seconds * view.hostCount * 1e9),
  },
  {
    name: 'VecPercent',
    unit: '',
    formula: 'flops of widths above 1 / all flops, as vecpercent_64b but as a share',
    inputs: ['pmc.…'],
    note: 'The original fails where the events are named as since 2.3.1: it asks for SIMD_D_256.',
    compute: (view) => {
      const { vector, flops } = doubles(view);
      return vector / flops;
    },
  },
  {
    name: 'C3State',
    unit: '1/s',
    formula: 'ΔC3_CYCLES / (T N)',
    inputs: ['pcu.C3_CYCLES'],
    compute: (view) => {
      const models = ['snb', 'ivb', 'hsw', 'bdw'].map((model) => `intel_${model}_pcu`);
      return view.rate(view.type([...models, 'intel_pcu'], 'power control counters'), 'C3_CYCLES');
    },
  },
  {
    name: 'MIC_Usage',
    unit: '',
    formula: 'Δuser_sum N / (Δjiffy_counter × threads_core × num_cores)',
    inputs: ['mic.user_sum', 'mic.jiffy_counter', 'mic.threads_core', 'mic.num_cores'],
    compute: (view) => {
      const user = view.total('mic', 'user_sum');
      const jiffies = view.total('mic', 'jiffy_counter');
      const threads = summed(view.series('mic', 'threads_core'))[0];
      const cores = summed(view.series('mic', 'num_cores'))[0];
      return (view.hostCount * user) / (jiffies * threads * cores);
    },
  },
];

const MEMORY: readonly JobMetric[] = [
  {
    name: 'MemBw',
    unit: '',
    formula:
      '64 Δ(CAS_READS + CAS_WRITES) / (T N peak), peak 76 GB/s of snb and ivb, 104 GB/s of hsw',
    inputs: ['imc.CAS_READS', 'imc.CAS_WRITES'],
    compute: (view) => {
      const peak = PEAK[pmc(view)];
      if (peak === undefined) throw new MissingInput(`the peak bandwidth of ${pmc(view)}`);
      return controllerBytes(view) / (view.seconds * view.hostCount * peak);
    },
  },
  {
    name: 'MemUsage',
    unit: 'GiB',
    formula: 'as mem_hwm',
    inputs: ['mem.MemUsed', 'mem.Slab', 'mem.FilePages'],
    compute: (view) => highWater(view) / GIB,
  },
];

const BALANCE: readonly JobMetric[] = [
  {
    name: 'Idle',
    unit: '',
    formula: 'as node_imbalance',
    inputs: ['cpu.user'],
    compute: (view) => max(behindByHost(view).values()),
  },
  {
    name: 'Imbalance',
    unit: '',
    formula:
      'standard deviation / mean of the hosts’ rates of LOAD_L1D_ALL (n - 1 in the denominator)',
    inputs: ['pmc.LOAD_L1D_ALL'],
    compute: deviation,
  },
  {
    name: 'Catastrophe',
    unit: '',
    formula: 'as time_imbalance, where no host lacks a begin or an end',
    inputs: ['cpu.user'],
    compute: (view) => {
      const lacking = view.job.hosts.find(({ begin, end }) => begin === null || end === null);
      if (lacking !== undefined) {
        const which = lacking.begin === null ? 'begin' : 'end';
        throw new MissingInput(
          `the ${which} of ${lacking.host}, without which a fall means nothing`,
        );
      }
      return leastAfterBefore(view);
    },
  },
];

const NETWORK: readonly JobMetric[] = [
  {
    name: 'GigEBW',
    unit: 'B/s',
    formula: 'Δ(rx_bytes + tx_bytes) of eth0, else of eth1, / (T N)',
    inputs: ['net.rx_bytes', 'net.tx_bytes'],
    compute: (view) => {
      const portOf = (devices: ReadonlyMap<string, unknown>) =>
        ['eth0', 'eth1'].find((name) => devices.has(name));
      const received = view.oneDevice('net', 'rx_bytes', portOf);
      const sent = view.oneDevice('net', 'tx_bytes', portOf);
      if (received.hosts === 0) throw new MissingInput('net records of eth0 or eth1');
      return (received.sum + sent.sum) / (view.seconds * received.hosts);
    },
  },
  {
    name: 'PacketRate',
    unit: '1/s',
    formula:
      'max over directions and hosts of the lesser of the switch’s and the adapter’s highest rate of packets',
    inputs: [
      'ib_sw.rx_packets',
      'ib_sw.tx_packets',
      'ib_ext.port_xmit_pkts',
      'ib_ext.port_rcv_pkts',
    ],
    compute: (view) =>
      Math.max(
        packetRate(view, 'rx_packets', 'port_xmit_pkts'),
        packetRate(view, 'tx_packets', 'port_rcv_pkts'),
      ),
  },
  {
    name: 'PacketSize',
    unit: 'B',
    formula: '(Δrx_bytes / Δrx_packets + Δtx_bytes / Δtx_packets) / 2',
    inputs: [...named(SWITCH), 'ib_sw.rx_packets', 'ib_sw.tx_packets'],
    compute: (view) =>
      (view.total('ib_sw', 'rx_bytes') / view.total('ib_sw', 'rx_packets') +
        view.total('ib_sw', 'tx_bytes') / view.total('ib_sw', 'tx_packets')) /
      2,
  },
  {
    name: 'InternodeIBAveBW',
    unit: 'B/s',
    formula: 'Δ(ib_sw.rx_bytes + tx_bytes - lnet.rx_bytes - tx_bytes) / (T N)',
    inputs: named([...SWITCH, ...LNET]),
    compute: (view) =>
      view.rate('ib_sw', 'rx_bytes', 'tx_bytes') - view.rate('lnet', 'rx_bytes', 'tx_bytes'),
  },
  {
    name: 'InternodeIBMaxBW',
    unit: 'B/s',
    formula:
      'max over intervals of the hosts’ sum of rates of ib_sw.rx_bytes + tx_bytes - lnet.rx_bytes - tx_bytes',
    inputs: named([...SWITCH, ...LNET]),
    compute: (view) => peakOf(view, SWITCH, LNET),
  },
  average('LnetAveBW', 'lnet', ['rx_bytes', 'tx_bytes'], 'B/s'),
  {
    name: 'LnetMaxBW',
    unit: 'B/s',
    formula: 'max over intervals of the hosts’ sum of rates of rx_bytes + tx_bytes',
    inputs: named(LNET),
    compute: (view) => peakOf(view, LNET),
  },
];

const FILES: readonly JobMetric[] = [
  {
    name: 'MetaDataRate',
    unit: '1/s',
    formula: `max over intervals of the hosts’ sum of rates of ${METADATA.join(' + ')}`,
    inputs: METADATA.map((key) => `llite.${key}`),
    compute: (view) => highest(new Map([['all', summed(view.rates('llite', ...metadata(view)))]])),
  },
  average('LLiteOpenClose', 'llite', ['open', 'close'], '1/s'),
  average('MDCReqs', 'mdc', ['reqs'], '1/s'),
  average('OSCReqs', 'osc', ['reqs'], '1/s'),
  quotient('MDCWait', 'mdc', 'wait', 'reqs', 'us'),
  quotient('OSCWait', 'osc', 'wait', 'reqs', 'us'),
];

export const EXAMS: MetricFamily = {
  title: 'Exams',
  set: 'exam',
  metrics: [...PROCESSORS, ...MEMORY, ...BALANCE, ...NETWORK, ...FILES],
};
