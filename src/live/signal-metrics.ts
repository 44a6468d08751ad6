/** The last values of signals as OpenMetrics. */
import { Counter, Gauge, Registry } from 'prom-client';

/** One time series. */
export interface MetricSeries {
  /** Lower case, with its unit, such as `triscope_cpu_energy_joules`; without `_total`. */
  readonly name: string;
  readonly help: string;
  /** `counter`: only grows. */
  readonly kind: 'counter' | 'gauge';
  readonly labels: Readonly<Record<string, string>>;
}

export class SignalText {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly current: Float64Array;

  constructor(series: readonly MetricSeries[]) {
    this.registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    this.contentType = this.registry.contentType;
    const current = new Float64Array(series.length).fill(Number.NaN);
    this.current = current;
    for (const name of new Set(series.map((one) => one.name))) {
      const all = series.flatMap((one, k) => (one.name === name ? [{ ...one, k }] : []));
      const own = [...new Map(all.map((one) => [JSON.stringify(one.labels), one])).values()];
      const [{ help, kind, labels }] = own;
      const options = {
        name,
        help,
        labelNames: Object.keys(labels),
        registers: [this.registry],
      };
      const measured = () => own.filter(({ k }) => !Number.isNaN(current[k]));
      if (kind === 'counter') {
        new Counter({
          ...options,
          collect() {
            this.reset();
            for (const { labels, k } of measured()) this.inc(labels, Math.max(0, current[k]));
          },
        });
      } else {
        new Gauge({
          ...options,
          collect() {
            this.reset();
            for (const { labels, k } of measured()) this.set(labels, current[k]);
          },
        });
      }
    }
  }

  /** Takes the values of the series, in their order; NaN: absent. */
  set(values: ArrayLike<number>): void {
    this.current.set(values);
  }

  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}
