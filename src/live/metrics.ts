/** Values of the moment for Prometheus and its like: OpenMetrics over HTTP at /metrics, on loopback unless told. */
import { createServer } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import { Access } from './access.ts';
import { ServeError } from './server.ts';

/** One time series. */
export interface MetricSeries {
  /** Lower case, with its unit, such as `triscope_cpu_energy_joules`; without `_total`. */
  readonly name: string;
  readonly help: string;
  /** `counter`: only grows. */
  readonly kind: 'counter' | 'gauge';
  readonly labels: Readonly<Record<string, string>>;
}

export interface MetricsServer {
  readonly url: string;
  /** Takes the values of the series, in their order; NaN: absent. */
  set(values: ArrayLike<number>): void;
  close(): Promise<void>;
}

/** @throws ServeError where it cannot listen there */
export async function serveMetrics(
  series: readonly MetricSeries[],
  port: number,
  host = '127.0.0.1',
): Promise<MetricsServer> {
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
  const access = new Access(host);
  const server = createServer(async (request, response) => {
    const { host, origin, cookie, authorization } = request.headers;
    if (!access.isOurs({ host, origin, cookie, authorization })) {
      response.writeHead(403).end();
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end('see /metrics\n');
      return;
    }
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ServeError(`cannot serve metrics on ${host}, port ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}/metrics`,
    set: (values) => current.set(values),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
