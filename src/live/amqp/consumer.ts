/** Files messages of collectors in an archive, and acknowledges each when it is durable there. */
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { ArchiveWriter } from './archive.ts';
import {
  type BrokerOptions,
  brokerName,
  connectTo,
  disconnect,
  EXCHANGE,
  RETRY_MS,
} from './connection.ts';
import { RejectedMessageError, type Stamp, stampFrom } from './message.ts';
import { NUMBER_HEADER, PRODUCER_HEADER } from './publisher.ts';
import { wait } from './wait.ts';

interface ConsumerOptions extends BrokerOptions {
  readonly archive: ArchiveWriter;
  /** Receives one line about the broker, or about a message that cannot be filed. */
  readonly say?: (line: string) => void;
}

interface ConsumerResult {
  readonly appended: number;
  /** Messages that were delivered again. */
  readonly repeated: number;
  readonly rejected: number;
}

/** Messages that the broker sends ahead. */
const AHEAD = 64;

/** @throws RejectedMessageError */
const stampOf = ({ properties: { headers } }: ConsumeMessage): Stamp | null =>
  stampFrom(headers?.[PRODUCER_HEADER], headers?.[NUMBER_HEADER]);

export class AmqpConsumer {
  private readonly options: ConsumerOptions;
  private readonly ended = new AbortController();
  private _stop: () => void = () => {};
  private appended = 0;
  private repeated = 0;
  private rejected = 0;

  constructor(options: ConsumerOptions) {
    this.options = options;
  }

  get result(): ConsumerResult {
    return { appended: this.appended, repeated: this.repeated, rejected: this.rejected };
  }

  /** Files messages until `stop`. @throws BrokerError where no waiting helps; the file system's error of the archive */
  async run(): Promise<ConsumerResult> {
    const { signal } = this.ended;
    const [least, most] = this.options.retry ?? RETRY_MS;
    let away = false;
    for (let pause = least; !signal.aborted; ) {
      try {
        const connection = await connectTo(this.options);
        if (away) this.say('the broker is back');
        away = false;
        pause = least;
        await this.consume(connection);
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof ArchiveFault) throw error.cause;
        if ((error as Error).name === 'BrokerError') throw error;
        if (!away) this.say(`${(error as Error).message || 'no connection'}; trying again`);
        away = true;
        await wait(pause, signal);
        pause = Math.min(2 * pause, most);
      }
    }
    return this.result;
  }

  /** Asks it to end; messages that are not filed stay with the broker. */
  stop(): void {
    this.ended.abort();
    this._stop();
  }

  private say(line: string): void {
    this.options.say?.(`${brokerName(this.options)}: ${line}`);
  }

  /** Files messages for as long as the connection holds. */
  private async consume(connection: ChannelModel): Promise<void> {
    const gone = new Promise<never>((_, reject) => {
      connection.on('error', reject);
      connection.on('close', () => reject(new Error('the connection broke')));
      this._stop = () => reject(new Error('stopped'));
    });
    // It may break before anybody waits for it.
    gone.catch(() => {});
    const channel = await connection.createChannel();
    const { queue } = this.options;
    await channel.assertQueue(queue, { durable: true });
    await channel.bindQueue(queue, EXCHANGE, queue);
    await channel.prefetch(AHEAD);
    const failed = new Promise<never>((_, reject) => {
      channel.on('error', reject);
      let isBroken = false;
      const file = (message: ConsumeMessage | null) => {
        // After a message that could not be filed, none is filed: the next ones have higher numbers, so it would later count as a repeat.
        if (isBroken) return;
        if (message === null) return reject(new Error(`the queue ${queue} was deleted`));
        try {
          this.file(channel, message);
        } catch (error) {
          isBroken = true;
          reject(error);
        }
      };
      channel.consume(queue, file, { noAck: false }).catch(reject);
    });
    try {
      await Promise.race([gone, failed]);
    } finally {
      await disconnect(connection);
    }
  }

  private file(channel: Channel, message: ConsumeMessage): void {
    if (this.ended.signal.aborted) return;
    const { archive } = this.options;
    try {
      if (archive.append(message.content, stampOf(message))) this.appended++;
      else this.repeated++;
    } catch (error) {
      if (!(error instanceof RejectedMessageError)) throw new ArchiveFault(error);
      this.reject(message.content, error.message);
    }
    channel.ack(message);
  }

  /** Stores a message that cannot be filed: it is acknowledged, because it would be delivered again for ever otherwise. */
  private reject(message: Uint8Array, reason: string): void {
    this.rejected++;
    const { rejected } = this.options.archive;
    const wasFull = rejected.isFull;
    let kept: boolean;
    try {
      kept = rejected.add(message, reason);
    } catch (error) {
      throw new ArchiveFault(error);
    }
    if (kept) this.say(`a message is not a record group: ${reason}; kept in ${rejected.path}`);
    else if (!wasFull) this.say(`${rejected.path} is full: what cannot be filed is only counted`);
  }
}

/** The archive cannot be written: nothing is acknowledged, so nothing is lost. */
class ArchiveFault extends Error {
  constructor(cause: unknown) {
    super('the archive cannot be written', { cause });
  }
}
