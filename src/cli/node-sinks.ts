/** Where a daemon's samples go besides its log: a broker, OpenMetrics. */
import { join } from 'node:path';
import type { NodeConfig } from '../node/config.ts';
import { numberIn } from '../node/config.ts';
import type { GroupSink } from '../node/group-sink.ts';
import { UsageError } from './errors.ts';
import { flag, say, stringOf, text } from './node-log-options.ts';
import type { Words } from './node-options.ts';

export const BROKER_OPTIONS = {
  server: text,
  queue: { ...text, short: 'q' },
  port: text,
  user: text,
} as const;

export const SINK_OPTIONS = {
  ...BROKER_OPTIONS,
  spool: text,
  'no-log': flag,
  metrics: text,
  'metrics-address': text,
  'metrics-allow': text,
} as const;

const PORTS = [1, 65_535] as const;

/** @throws UsageError */
export function portFrom(words: Words, name: string): number | undefined {
  const given = stringOf(words, name);
  if (given === undefined) return undefined;
  const port = numberIn(given, 0, PORTS[1], true);
  if (port !== null) return port;
  throw new UsageError(`--${name} ${given}: it is a port, ${PORTS[0]} to ${PORTS[1]}`);
}

/** The broker that the words name, or else the configuration; null for none. @throws UsageError */
export function brokerFrom(words: Words, config: Pick<NodeConfig, 'server' | 'queue' | 'port'>) {
  const server = stringOf(words, 'server') ?? config.server;
  if (server === null) return null;
  const user = stringOf(words, 'user');
  const password = process.env.TRISCOPE_AMQP_PASSWORD;
  return {
    server,
    queue: stringOf(words, 'queue') ?? config.queue,
    port: portFrom(words, 'port') ?? config.port,
    ...(user !== undefined && { user }),
    ...(password !== undefined && password !== '' && { password }),
  };
}

/** Opens the sinks. `folder`: the log's. @throws UsageError, SpoolError, ServeError */
export async function sinksFrom(
  words: Words,
  config: NodeConfig,
  folder: string,
): Promise<GroupSink[]> {
  const sinks: GroupSink[] = [];
  const broker = brokerFrom(words, config);
  if (broker !== null) {
    const { AmqpPublisher } = await import('../live/amqp/index.ts');
    const spool = stringOf(words, 'spool') ?? join(folder, 'spool');
    sinks.push(new AmqpPublisher({ ...broker, spool, say }));
  }
  const port = portFrom(words, 'metrics');
  if (port !== undefined) {
    const { serveNodeMetrics } = await import('../live/metrics.ts');
    const address = stringOf(words, 'metrics-address');
    const allowed = stringOf(words, 'metrics-allow');
    const token = process.env.TRISCOPE_METRICS_TOKEN;
    const metrics = await serveNodeMetrics({
      port,
      ...(address !== undefined && { address }),
      ...(allowed !== undefined && { allowed: allowed.split(',') }),
      ...(token && { token }),
    });
    say(`metrics: ${metrics.url}`);
    sinks.push(metrics);
  }
  return sinks;
}
