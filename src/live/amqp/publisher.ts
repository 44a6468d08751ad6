/**
 * Sends record groups to a broker: they are kept in the spool, sent in order, one at a time, and forgotten when the broker has
 * confirmed them. While the broker is away they wait on disk.
 */
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { GIB } from '../../model/units.ts';
import {
  type BrokerOptions,
  brokerName,
  connectTo,
  disconnect,
  EXCHANGE,
  RETRY_MS,
} from './connection.ts';
import { Spool, type Spooled } from './spool.ts';
import { wait } from './wait.ts';

interface PublisherOptions extends BrokerOptions {
  /** Folder of the groups that wait. */
  readonly spool: string;
  /** Bytes that may wait, 1 GiB by default; beyond, the oldest are dropped. */
  readonly most?: number;
  /** Milliseconds that `close` waits for the broker to take the remaining groups. */
  readonly patience?: number;
  /** Receives one line when the broker goes or comes back. */
  readonly say?: (line: string) => void;
}

const DRAIN_WAIT_MS = 5000;
/** Milliseconds for the broker to confirm a message. */
const CONFIRM_MS = 30_000;

/** Header of messages with their producer: a receiver drops messages that it has already. */
export const PRODUCER_HEADER = 'x-triscope-producer';
export const NUMBER_HEADER = 'x-triscope-number';

export class AmqpPublisher {
  readonly name = 'amqp';
  private readonly options: PublisherOptions;
  private readonly spool: Spool;
  private readonly ended = new AbortController();
  private readonly done: Promise<void>;
  private connection: ChannelModel | null = null;
  private channel: ConfirmChannel | null = null;
  /** Wakes the sender, where it waits for messages. */
  private wake: () => void = () => {};
  private idle: () => void = () => {};
  /** Rejects the wait for a confirmation that will never come. */
  private broken: () => void = () => {};
  private away = false;
  private _lost = 0;
  private trouble: string | null = null;
  /** Groups in memory that the broker had not taken at the end. */
  private left = 0;

  /** @throws SpoolError */
  constructor(options: PublisherOptions) {
    this.options = options;
    this.spool = new Spool({ folder: options.spool, most: options.most ?? GIB });
    this.done = this.send();
  }

  /** Messages that wait for the broker. */
  get waiting(): number {
    return this.spool.length;
  }

  /** Groups that were dropped: for lack of room, or because they were left in memory at the end. */
  get lost(): number {
    return this.spool.lost + this.left;
  }

  /** Takes a message: on disk when this returns, or in memory where the disk is full. */
  write(bytes: Uint8Array): void {
    this.spool.add(bytes);
    const { trouble } = this.spool;
    if ((trouble === null) !== (this.trouble === null)) {
      this.say(
        trouble === null
          ? 'groups are kept on disk again'
          : `${trouble}; groups are kept in memory`,
      );
    }
    this.trouble = trouble;
    if (this.spool.lost > this._lost) {
      this._lost = this.spool.lost;
      this.say(`the spool is full: ${this._lost} of the oldest groups were given up`);
    }
    this.wake();
  }

  /** Ends. Groups that the broker has not taken by then stay in the spool for the next start. */
  async close(): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.idle = resolve;
      if (this.spool.length === 0) resolve();
    });
    await Promise.race([drained, wait(this.options.patience ?? DRAIN_WAIT_MS, this.ended.signal)]);
    this.ended.abort();
    this.broken();
    this.wake();
    await this.done;
    this.left = this.spool.inMemory;
    const waiting = this.spool.length - this.left;
    if (waiting > 0) this.say(`${waiting} groups wait in ${this.options.spool}`);
    if (this.left > 0) this.say(`${this.left} groups in memory are lost`);
  }

  private say(line: string): void {
    this.options.say?.(`${brokerName(this.options)}: ${line}`);
  }

  private async send(): Promise<void> {
    const { signal } = this.ended;
    const [least, most] = this.options.retry ?? RETRY_MS;
    for (let pause = least; !signal.aborted; ) {
      try {
        const message = this.spool.first();
        if (message === null) {
          this.idle();
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
          continue;
        }
        await this.publish(await this.open(), message);
        this.spool.confirm(message);
        if (this.away) this.say('the broker is back');
        this.away = false;
        pause = least;
      } catch (error) {
        this.disconnect();
        if (signal.aborted) break;
        if (!this.away)
          this.say(
            `${(error as Error).message || 'no connection'}; groups wait in ${this.options.spool}`,
          );
        this.away = true;
        await wait(pause, signal);
        pause = Math.min(2 * pause, most);
      }
    }
    this.disconnect();
  }

  private async open(): Promise<ConfirmChannel> {
    if (this.channel !== null) return this.channel;
    const connection = await connectTo(this.options);
    this.connection = connection;
    const gone = () => this.disconnect();
    connection.on('error', gone).on('close', gone);
    const channel = await connection.createConfirmChannel();
    channel.on('error', gone).on('close', gone);
    const { queue } = this.options;
    await channel.assertQueue(queue, { durable: true });
    await channel.bindQueue(queue, EXCHANGE, queue);
    this.channel = channel;
    return channel;
  }

  /** Resolves when the broker has confirmed the message. */
  private publish(channel: ConfirmChannel, { producer, number, message }: Spooled): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the broker does not confirm messages')),
        CONFIRM_MS,
      );
      const end = (error: unknown) => {
        clearTimeout(timer);
        if (error) reject(error instanceof Error ? error : new Error('the broker refused a group'));
        else resolve();
      };
      this.broken = () => end(new Error('the connection broke'));
      const options = {
        persistent: true,
        mandatory: true,
        contentType: 'text/plain',
        messageId: `${producer}:${number}`,
        headers: { [PRODUCER_HEADER]: producer, [NUMBER_HEADER]: number },
      };
      channel.publish(EXCHANGE, this.options.queue, message, options, (error) => {
        end(error);
      });
    });
  }

  private disconnect(): void {
    const connection = this.connection;
    this.connection = null;
    this.channel = null;
    this.broken();
    if (connection !== null) void disconnect(connection);
  }
}
