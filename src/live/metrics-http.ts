/** OpenMetrics text over HTTP at /metrics: open on loopback unless a token is given; elsewhere by token, or address. */
import type { MetricsText } from './metrics-text.ts';
import { addressList, isLoopback, newToken, ServerAccess } from './net/access.ts';
import { Desk } from './net/desk.ts';
import { bounded, RequestGuard, refuse } from './net/guard.ts';
import { linkTo, ServeError } from './net/listen.ts';

export interface MetricsOptions {
  readonly port: number;
  /** 127.0.0.1 where not given. */
  readonly address?: string;
  /** Token that requests must have. Elsewhere than on loopback a new one is made where none is given: it is part of the URL. */
  readonly token?: string;
  /** Addresses, and networks such as `10.1.0.0/16`, that need no token; without one, others are refused then. */
  readonly allowed?: readonly string[];
}

export interface MetricsServer {
  /** With the token, where one was made. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

function accessFor({ address = '127.0.0.1', token, allowed }: MetricsOptions) {
  const isOpen = isLoopback(address) || allowed !== undefined;
  const made = token === undefined && !isOpen ? newToken() : null;
  try {
    const access = new ServerAccess({
      address,
      token: token ?? made,
      ...(allowed !== undefined && { allowed: addressList(allowed) }),
      anyName: !isLoopback(address),
    });
    return { access, made, address };
  } catch (error) {
    throw new ServeError((error as Error).message);
  }
}

/** @throws ServeError where it cannot listen there */
export async function serveMetricsText(
  source: MetricsText,
  options: MetricsOptions,
): Promise<MetricsServer> {
  const { access, made, address } = accessFor(options);
  const closing = new AbortController();
  const desk = new Desk(closing.signal);
  const guard = new RequestGuard({
    access,
    answer: async (_, response, admitted) => {
      const { asked, limits, gone } = admitted;
      if (asked.path !== '/metrics') {
        return refuse(response, { status: 404, line: 'see /metrics' });
      }
      bounded(response, admitted);
      const text = await desk.serve(limits, gone, () => source.metrics());
      response.writeHead(200, { 'Content-Type': source.contentType }).end(text);
    },
  });
  const port = await guard.listen(options.port, address);
  return {
    url: linkTo(address, port, '/metrics', made),
    port,
    close: () => {
      closing.abort();
      return guard.close();
    },
  };
}
