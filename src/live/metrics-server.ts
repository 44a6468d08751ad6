/** OpenMetrics text over HTTP at /metrics, on loopback unless told. */
import { createServer } from 'node:http';
import { Access } from './access.ts';
import { ServeError } from './server.ts';

/** The text of the moment, as a registry of prom-client gives it. */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface MetricsServer {
  /** With the token, where one is needed. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param token asked for away from loopback; a new one where it is null, which is then part of the URL
 * @throws ServeError where it cannot listen there
 */
export async function serveMetricsText(
  source: MetricsText,
  port: number,
  host = '127.0.0.1',
  token: string | null = null,
): Promise<MetricsServer> {
  const access = new Access(host, token);
  const server = createServer(async (request, response) => {
    const { host: to, origin, cookie, authorization } = request.headers;
    const credentials = { host: to, origin, cookie, authorization };
    const url = new URL(request.url ?? '/', 'http://any');
    const given = url.searchParams.get('token');
    const known = access.isKnown(credentials) || (given !== null && access.isToken(given));
    // Who has the token may call this machine by any name, such as that of its Prometheus target.
    const ours = access.token !== null || access.isOurs(credentials);
    if (!ours || !known) {
      response.writeHead(403).end();
      return;
    }
    if (request.method !== 'GET' || url.pathname !== '/metrics') {
      response.writeHead(404).end('see /metrics\n');
      return;
    }
    try {
      const text = await source.metrics();
      response.writeHead(200, { 'content-type': source.contentType }).end(text);
    } catch (error) {
      response.writeHead(500).end(`${(error as Error).message}\n`);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ServeError(`cannot serve metrics on ${host}, port ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const at = typeof address === 'object' && address !== null ? address.port : port;
  const name = host.includes(':') ? `[${host}]` : host;
  const secret = access.token === null || token !== null ? '' : `?token=${access.token}`;
  return {
    url: `http://${name}:${at}/metrics${secret}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
