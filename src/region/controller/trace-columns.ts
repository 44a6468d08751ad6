/** Columns of the trace (GEOPM's, the user's and the agent's), and the sources of their values. */
import type { TraceColumn } from '../../formats/geopm/write.ts';
import type { Platform } from '../platform.ts';

/** Signals of the board. Source: GEOPM's documentation of traces (geopmlaunch(1), --geopm-trace). */
const DEFAULTS: readonly TraceColumn[] = [
  { name: 'TIME', format: 'double' },
  { name: 'EPOCH_COUNT', format: 'integer' },
  { name: 'REGION_HASH', format: 'hex' },
  { name: 'REGION_HINT', format: 'hex' },
  { name: 'REGION_PROGRESS', format: 'float' },
  { name: 'CPU_ENERGY', format: 'double' },
  { name: 'DRAM_ENERGY', format: 'double' },
  { name: 'CPU_POWER', format: 'double' },
  { name: 'DRAM_POWER', format: 'double' },
  { name: 'CPU_FREQUENCY_STATUS', format: 'double' },
  { name: 'CPU_CYCLES_THREAD', format: 'double' },
  { name: 'CPU_CYCLES_REFERENCE', format: 'double' },
  { name: 'CPU_CORE_TEMPERATURE', format: 'double' },
];

export interface SampledColumn extends TraceColumn {
  /** Handle of the platform; -1: a signal that this machine does not have. */
  readonly handle: number;
}

/**
 * The default columns, including absent ones, then those requested as `SIGNAL` or `SIGNAL@domain`.
 * @throws SignalError if a requested signal does not exist here
 */
export function traceColumns(platform: Platform, requests: readonly string[]): SampledColumn[] {
  const columns: SampledColumn[] = DEFAULTS.map((column) => ({
    ...column,
    handle: platform.info(column.name) === null ? -1 : platform.push(column.name, 'board', 0),
  }));
  for (const request of requests) {
    const [name, where = 'board'] = request.split('@');
    const domain = platform.domain(where);
    const indices = platform.topology.indices(domain);
    for (const index of indices.length === 0 ? [0] : indices) {
      const handle = platform.push(name, domain, index);
      const format = platform.info(name)?.format ?? 'double';
      columns.push({
        name: domain === 'board' ? name : `${name}-${domain}-${index}`,
        format,
        handle,
      });
    }
  }
  return columns;
}
