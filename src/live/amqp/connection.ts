/** A connection to the broker, as the daemons of tacc_stats use it. */

import { type ChannelModel, connect } from 'amqplib';
import { TriscopeError } from '../../model/error.ts';

export interface BrokerOptions {
  readonly server: string;
  /** 5672 where not given. */
  readonly port?: number;
  /** Also the routing key, at the exchange `amq.direct`. */
  readonly queue: string;
  readonly user?: string;
  readonly password?: string;
  /** `/` where not given. */
  readonly vhost?: string;
  /** Milliseconds between attempts to reach the broker: at first, and at most. */
  readonly retry?: readonly [number, number];
}

/** The exchange by which the original publishes. */
export const EXCHANGE = 'amq.direct';
const DEFAULT_PORT = 5672;
/** Seconds between heartbeats; a broker without them counts as gone. */
const HEARTBEAT_SECONDS = 20;
/** Milliseconds between attempts to reach the broker, where not given. */
export const RETRY_MS = [500, 30_000] as const;
/** Milliseconds for a connection to be made. */
const CONNECT_WAIT_MS = 10_000;

/** The broker refuses something that waiting does not change: a wrong password, a queue of another kind. */
export class BrokerError extends TriscopeError {
  override readonly name = 'BrokerError';
}

/** `HOST:PORT`, as shown in messages. */
export const brokerName = ({ server, port = DEFAULT_PORT }: BrokerOptions): string =>
  `${server}:${port}`;

/** @throws Error of the network, BrokerError */
export async function connectTo(options: BrokerOptions): Promise<ChannelModel> {
  const { server, port = DEFAULT_PORT, user = 'guest', password = 'guest', vhost = '/' } = options;
  const settings = {
    protocol: 'amqp',
    hostname: server,
    port,
    username: user,
    password,
    vhost,
    heartbeat: HEARTBEAT_SECONDS,
  };
  try {
    return await connect(settings, { timeout: CONNECT_WAIT_MS });
  } catch (error) {
    const { message } = error as Error;
    if (/ACCESS_REFUSED|ACCESS-REFUSED|NOT_ALLOWED/i.test(message)) {
      throw new BrokerError(`${brokerName(options)} refuses ${user}: ${message}`);
    }
    throw error;
  }
}

/** Ends a connection in any state; its errors are ignored from now on. */
export async function disconnect(connection: ChannelModel): Promise<void> {
  connection.removeAllListeners();
  connection.on('error', () => {});
  try {
    await connection.close();
  } catch {
    // It was broken already.
  }
}
