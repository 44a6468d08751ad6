/** Where a daemon's samples go besides its log: a broker, OpenMetrics. */
import { join } from 'node:path';
import { flag, int, text } from '../model/option.ts';
import { DEFAULT_CONFIG, type NodeConfig } from '../node/config.ts';
import type { GroupSink } from '../node/group-sink.ts';
import type { Given } from './command.ts';
import { say } from './node-log-options.ts';

const MOST_PORT = 65_535;

export const BROKER_OPTIONS = {
  server: text('', 'the RabbitMQ to which samples are published', { placeholder: 'HOST' }),
  queue: text(DEFAULT_CONFIG.queue, 'queue of the RabbitMQ', { placeholder: 'NAME', short: 'q' }),
  port: int(DEFAULT_CONFIG.port, 'port of the RabbitMQ', {
    min: 1,
    max: MOST_PORT,
    placeholder: 'PORT',
  }),
  user: text('guest', 'user of the RabbitMQ; the password is TRISCOPE_AMQP_PASSWORD, else guest', {
    placeholder: 'NAME',
  }),
};

export const SINK_OPTIONS = {
  ...BROKER_OPTIONS,
  server: {
    ...BROKER_OPTIONS.server,
    help: 'publish every sample to this RabbitMQ as well',
    fallback: 'the configuration’s',
  },
  spool: text('', 'where samples wait for the broker', {
    placeholder: 'DIR',
    names: 'folder',
    fallback: 'spool in the log’s folder',
  }),
  'no-log': flag(false, 'publish only'),
  metrics: int(0, 'serve the last sample as OpenMetrics at http://127.0.0.1:PORT/metrics', {
    min: 0,
    max: MOST_PORT,
    placeholder: 'PORT',
    fallback: '',
  }),
  'metrics-address': text(
    '',
    'address to serve them on; it requires a token: that of TRISCOPE_METRICS_TOKEN, or a new one, which is printed',
    { placeholder: 'ADDRESS' },
  ),
  'metrics-allow': text(
    '',
    'addresses and networks, such as 10.0.0.5,10.1.0.0/16, that need no token; others need that of TRISCOPE_METRICS_TOKEN',
    { placeholder: 'LIST' },
  ),
};

/** The broker that the words name, or else the configuration; null for none. */
export function brokerFrom(
  given: Given<typeof BROKER_OPTIONS>,
  config: Pick<NodeConfig, 'server' | 'queue' | 'port'>,
) {
  const server = given.server ?? config.server;
  if (server === null) return null;
  const user = given.user;
  const password = process.env.TRISCOPE_AMQP_PASSWORD;
  return {
    server,
    queue: given.queue ?? config.queue,
    port: given.port ?? config.port,
    ...(user !== undefined && { user }),
    ...(password !== undefined && password !== '' && { password }),
  };
}

/** Opens the sinks. `folder`: the log's. @throws SpoolError, ServeError */
export async function sinksFrom(
  given: Given<typeof SINK_OPTIONS>,
  config: NodeConfig,
  folder: string,
): Promise<GroupSink[]> {
  const sinks: GroupSink[] = [];
  const broker = brokerFrom(given, config);
  if (broker !== null) {
    const { AmqpPublisher } = await import('../live/amqp/index.ts');
    const spool = given.spool ?? join(folder, 'spool');
    sinks.push(new AmqpPublisher({ ...broker, spool, say }));
  }
  const port = given.metrics;
  if (port !== undefined) {
    const { serveNodeMetrics } = await import('../live/metrics.ts');
    const address = given['metrics-address'];
    const allowed = given['metrics-allow'];
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
