/** Memory loads, and the caches that served them. */
import type { JobView } from '../view.ts';
import { average, type Declaration, sum } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';
import { typeIn } from './types.ts';

/** Loads of which the event has different names on different processors. */
const loads = (name: string, ...events: readonly string[]): Declaration => {
  const of = sum('pmc', ...events);
  return average(name, '1/s', of, { optional: Object.keys(of) });
};

const EVICTIONS = 'SF_EVICTIONS_MES';
const LOOKUPS = 'LLC_LOOKUP_DATA_READ_LOCAL';

/** By host and socket (the part of the device's name before the slash). */
function bySocket(view: JobView, type: string, key: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [host, devices] of view.deviceTotals(type, key)) {
    for (const [device, total] of devices) {
      const socket = `${host} ${device.split('/')[0]}`;
      sums.set(socket, (sums.get(socket) ?? 0) + total);
    }
  }
  return sums;
}

export const CACHE: MetricFamily = {
  title: 'Loads and caches',
  set: 'summary',
  metrics: [
    ...declared(
      loads('avg_loads', 'LOAD_OPS_ALL', 'MEM_UOPS_RETIRED_ALL_LOADS'),
      loads('avg_l1loadhits', 'LOAD_OPS_L1_HIT', 'MEM_UOPS_RETIRED_L1_HIT_LOADS'),
      loads('avg_l2loadhits', 'LOAD_OPS_L2_HIT', 'MEM_UOPS_RETIRED_L2_HIT_LOADS'),
      loads('avg_llcloadhits', 'LOAD_OPS_LLC_HIT', 'MEM_UOPS_RETIRED_LLC_HIT_LOADS'),
      {
        ...{ name: 'avg_sf_evictrate', unit: '' },
        ...{ of: sum('cha', EVICTIONS), per: sum('cha', LOOKUPS) },
      },
    ),
    {
      name: 'max_sf_evictrate',
      unit: '',
      formula: `max over sockets of Δ${EVICTIONS} / Δ${LOOKUPS}`,
      inputs: [`cha.${EVICTIONS}`, `cha.${LOOKUPS}`],
      noQuotient:
        'is the highest quotient of a socket, where quotients are of a host or of the job',
      compute: (view) => {
        const type = typeIn(view, 'cha');
        const lookups = bySocket(view, type, LOOKUPS);
        let most = Number.NaN;
        for (const [socket, evictions] of bySocket(view, type, EVICTIONS)) {
          const rate = evictions / (lookups.get(socket) ?? 0);
          if (!(rate <= most) && Number.isFinite(rate)) most = rate;
        }
        return most;
      },
    },
  ],
};
