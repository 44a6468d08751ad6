/** The tests of tacc_stats 2.3 (“exams”), by their names. Rates are averages per host. */
import { type JobView, MissingInput, summed } from '../view.ts';
import { NODE_IMBALANCE, TIME_IMBALANCE } from './balance.ts';
import { average, sum } from './declaration.ts';
import { METADATA_RATE, OPEN_CLOSE, requests } from './files.ts';
import { DOUBLE_RATE, DOUBLE_VECTORS } from './flops.ts';
import { BANDWIDTH, HIGH_WATER } from './memory.ts';
import { declared, type JobMetric, type MetricFamily } from './metric.ts';
import { typeIn } from './types.ts';

const CYCLES = sum('pmc', 'CLOCKS_UNHALTED_REF');
const max = (values: Iterable<number>) => Math.max(...values);

/** The peak memory bandwidth of a host in B/s, as measured by STREAM (tacc_stats' numbers). */
const PEAK: Readonly<Record<string, number>> = {
  intel_snb: 76e9,
  intel_ivb: 76e9,
  intel_hsw: 104e9,
};

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
  const totals = [...view.deviceTotals(typeIn(view, 'pmc'), 'LOAD_L1D_ALL').values()].map(
    (devices) => [...devices.values()].reduce((sum, value) => sum + value, 0),
  );
  if (totals.length < 2) throw new MissingInput('a second host');
  const mean = totals.reduce((sum, value) => sum + value, 0) / totals.length;
  const squares = totals.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (totals.length - 1)) / mean;
}

const PROCESSORS: readonly JobMetric[] = [
  ...declared(
    {
      ...{ name: 'HighCPI', unit: 'cycles/instruction' },
      ...{ of: CYCLES, per: sum('pmc', 'INSTRUCTIONS_RETIRED') },
    },
    {
      ...{ name: 'HighCPLD', unit: 'cycles/load' },
      ...{ of: CYCLES, per: sum('pmc', 'LOAD_L1D_ALL') },
      note: 'The original reads a misspelt event, LOAD_1D_ALL, and is therefore always 1.',
    },
    average('CPU_Usage', 'cs/s', sum('cpu', 'user')),
    average('Load_All', '1/s', sum('pmc', 'LOAD_OPS_ALL')),
    average('Load_L1Hits', '1/s', sum('pmc', 'LOAD_OPS_L1_HIT')),
    average('Load_L2Hits', '1/s', sum('pmc', 'LOAD_OPS_L2_HIT')),
    average('Load_LLCHits', '1/s', sum('pmc', 'LOAD_OPS_LLC_HIT')),
    average('LowFLOPS', 'GFLOPS', sum('amd64_core', 'SSE_FLOPS'), {
      or: DOUBLE_RATE,
      note: 'amd64_core is of AMD family 10h. The original fails where the events are named as since 2.3.1: it asks for SSE_D_ALL.',
    }),
    {
      ...{ ...DOUBLE_VECTORS, name: 'VecPercent', unit: '', factor: 1 },
      note: 'The original fails where the events are named as since 2.3.1: it asks for SIMD_D_256.',
    },
    average('C3State', '1/s', sum('pcu', 'C3_CYCLES')),
  ),
  {
    name: 'MIC_Usage',
    unit: '',
    formula: 'Δuser_sum N / (Δjiffy_counter × threads_core × num_cores)',
    inputs: ['mic.user_sum', 'mic.jiffy_counter', 'mic.threads_core', 'mic.num_cores'],
    noQuotient: 'divides by a product of a counter and two constants of the device',
    compute: (view) => {
      const user = view.total('mic', 'user_sum');
      const jiffies = view.total('mic', 'jiffy_counter');
      const threads = summed(view.series('mic', 'threads_core'))[0];
      const cores = summed(view.series('mic', 'num_cores'))[0];
      return (view.hostCount * user) / (jiffies * threads * cores);
    },
  },
];

const MEMORY = declared(
  {
    ...{ ...BANDWIDTH, name: 'MemBw', unit: '' },
    constant: { name: 'peak bandwidth', unit: 'B/s', family: 'pmc', values: PEAK, under: true },
  },
  { ...HIGH_WATER, name: 'MemUsage' },
);

const BALANCE: readonly JobMetric[] = [
  { ...NODE_IMBALANCE, name: 'Idle' },
  {
    name: 'Imbalance',
    unit: '',
    formula:
      'standard deviation / mean of the hosts’ rates of LOAD_L1D_ALL (n - 1 in the denominator)',
    inputs: ['pmc.LOAD_L1D_ALL'],
    noQuotient: 'is a standard deviation over hosts',
    compute: deviation,
  },
  {
    ...TIME_IMBALANCE,
    name: 'Catastrophe',
    note: 'Only where no host lacks a begin or an end.',
    compute: (view) => {
      const lacking = view.job.hosts.find(({ begin, end }) => begin === null || end === null);
      if (lacking !== undefined) {
        const which = lacking.begin === null ? 'begin' : 'end';
        throw new MissingInput(
          `the ${which} of ${lacking.host}, without which a fall means nothing`,
        );
      }
      return TIME_IMBALANCE.compute(view);
    },
  },
];

const LNET = average('LnetAveBW', 'B/s', sum('lnet', 'rx_bytes', 'tx_bytes'));
const INTERNODE = average('InternodeIBAveBW', 'B/s', {
  ...sum('ib_sw', 'rx_bytes', 'tx_bytes'),
  ...{ 'lnet.rx_bytes': -1, 'lnet.tx_bytes': -1 },
});

const NETWORK: readonly JobMetric[] = [
  ...declared(
    average('GigEBW', 'B/s', sum('net', 'rx_bytes', 'tx_bytes'), { devices: ['eth0', 'eth1'] }),
  ),
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
    noQuotient: 'takes the lesser of two highest rates of a host',
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
    inputs: ['ib_sw.rx_bytes', 'ib_sw.tx_bytes', 'ib_sw.rx_packets', 'ib_sw.tx_packets'],
    noQuotient: 'is the mean of two quotients, as in the original',
    compute: (view) =>
      (view.total('ib_sw', 'rx_bytes') / view.total('ib_sw', 'rx_packets') +
        view.total('ib_sw', 'tx_bytes') / view.total('ib_sw', 'tx_packets')) /
      2,
  },
  ...declared(INTERNODE, { ...INTERNODE, name: 'InternodeIBMaxBW', highest: 'sum' }, LNET, {
    ...LNET,
    name: 'LnetMaxBW',
    highest: 'sum',
  }),
];

const [MDC, MDC_WAIT] = requests('mdc', 'MDCReqs', 'MDCWait');
const [OSC, OSC_WAIT] = requests('osc', 'OSCReqs', 'OSCWait');

const FILES = declared(
  { ...METADATA_RATE, name: 'MetaDataRate', highest: 'sum' },
  { ...OPEN_CLOSE, name: 'LLiteOpenClose' },
  ...[MDC, OSC, MDC_WAIT, OSC_WAIT],
);

export const EXAMS: MetricFamily = {
  title: 'Exams',
  set: 'exam',
  metrics: [...PROCESSORS, ...MEMORY, ...BALANCE, ...NETWORK, ...FILES],
};
