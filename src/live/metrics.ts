/** Values of the moment for Prometheus and its like: OpenMetrics over HTTP at /metrics, on loopback unless told. */
import { Counter, Gauge, Registry } from 'prom-client';
import { type MetricsServer, serveMetricsText } from './metrics-server.ts';

/** One time series. */
export interface MetricSeries {
  /** Lower case, with its unit, such as `triscope_cpu_energy_joules`; without `_total`. */
  readonly name: string;
  readonly help: string;
  /** `counter`: only grows. */
  readonly kind: 'counter' | 'gauge';
  readonly labels: Readonly<Record<string, string>>;
}

export interface SignalMetrics extends MetricsServer {
  /** Takes the values of the series, in their order; NaN: absent. */
  set(values: ArrayLike<number>): void;
}

/** @throws ServeError where it cannot listen there */
export async function serveMetrics(
  series: readonly MetricSeries[],
  port: number,
  host = '127.0.0.1',
): Promise<SignalMetrics> {
  const registry = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const current = new Float64Array(series.length).fill(Number.NaN);
  for (const name of new Set(series.map((one) => one.name))) {
    const all = series.flatMap((one, k) => (one.name === name ? [{ ...one, k }] : []));
    const own = [...new Map(all.map((one) => [JSON.stringify(one.labels), one])).values()];
    const [{ help, kind, labels }] = own;
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    if (kind === 'counter') {
      new Counter({
        ...options,
        collect() {
          this.reset();
          for (const one of own) {
            if (!Number.isNaN(current[one.k])) this.inc(one.labels, Math.max(0, current[one.k]));
          }
        },
      });
    } else {
      new Gauge({
        ...options,
        collect() {
          this.reset();
          for (const one of own) {
            if (!Number.isNaN(current[one.k])) this.set(one.labels, current[one.k]);
          }
        },
      });
    }
  }
  const server = await serveMetricsText(registry, port, host);
  return { ...server, set: (values) => current.set(values) };
}
