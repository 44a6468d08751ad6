/** What needs more than a folder: the archive's service with a broker, a server that is asked. Only `npm run fuzz` tries the first. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connectTo, EXCHANGE } from '../../src/live/amqp/connection.ts';
import { NUMBER_HEADER, PRODUCER_HEADER } from '../../src/live/amqp/publisher.ts';
import { Broker } from '../live/amqp/broker.ts';
import { filed, message, upTo } from '../live/amqp/support.ts';
import { until } from '../support/until.ts';
import { run } from './run-command.ts';
import { copied, must, SQL, type Target, whole } from './targets.ts';

/** Messages of a case that ends suddenly; and of one in which a write fails, so that each of them can be tried. */
export const MANY_MESSAGES = 120;
export const FEW_MESSAGES = 12;

let started: Promise<Broker> | null = null;
const broker = (): Promise<Broker> => {
  started ??= Broker.make().then(async (made) => {
    await made.start();
    return made;
  });
  return started;
};

/** Ends the broker, where one was started. */
export async function endBroker(): Promise<void> {
  const ending = started;
  started = null;
  await (await ending)?.remove();
}

const brokerPort = async () => (await broker()).port;
/** Known once a case was prepared. */
let port = 0;
const queueOf = (folder: string) => basename(folder);
const at = (folder: string) => ({ server: '127.0.0.1', port, queue: queueOf(folder) });
const archiveIn = (folder: string) => join(folder, 'archive');

/** Times that the test's own connection is tried: a machine full of work may need more than its ten seconds. */
const TRIES = 6;

async function connected(folder: string): Promise<Awaited<ReturnType<typeof connectTo>>> {
  for (let tried = 1; ; tried++) {
    try {
      return await connectTo(at(folder));
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
}

/** Puts numbered messages into the queue of a case. */
async function publish(folder: string, messages: number): Promise<void> {
  port = await brokerPort();
  const connection = await connected(folder);
  const channel = await connection.createConfirmChannel();
  const queue = queueOf(folder);
  await channel.assertQueue(queue, { durable: true });
  await channel.bindQueue(queue, EXCHANGE, queue);
  for (const k of upTo(messages)) {
    const headers = { [PRODUCER_HEADER]: 'p', [NUMBER_HEADER]: k };
    channel.publish(EXCHANGE, queue, Buffer.from(message(k)), { persistent: true, headers });
  }
  await channel.waitForConfirms();
  await connection.close();
}

async function removeQueue(folder: string): Promise<void> {
  const connection = await connected(folder);
  const channel = await connection.createChannel();
  await channel.deleteQueue(queueOf(folder));
  await connection.close();
}

/** Milliseconds from the service's mark in the archive until it hears signals, at most. */
const SOON = 300;

/** Ends it once it serves, and all messages are filed. */
async function endWhenFiled(folder: string, child: ChildProcess, messages: number): Promise<void> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const mark = join(archiveIn(folder), '.service.pid');
  try {
    await until(() => isOver() || (existsSync(mark) && readFileSync(mark, 'utf8') !== ''));
    await new Promise((resolve) => setTimeout(resolve, SOON));
    await until(() => isOver() || filed(archiveIn(folder)).length >= messages);
  } catch {
    // It waits for ever: what is missing is told by the check.
  } finally {
    child.kill('SIGTERM');
  }
}

/** The archive's service, which has `messages` to file. */
export const service = (messages: number): Target => ({
  name: 'node archive --server',
  prepare: (folder) => publish(folder, messages),
  args: (folder) => [
    ...['node', 'archive', '--archive', archiveIn(folder), '--server', '127.0.0.1'],
    ...['--port', String(port), '--queue', queueOf(folder)],
  ],
  meanwhile: (folder, child) => endWhenFiled(folder, child, messages),
  async check(folder) {
    const before = filed(archiveIn(folder));
    must(new Set(before).size === before.length, 'a message is there twice');
    const again = await run(this.args(folder), {
      started: (child) => void endWhenFiled(folder, child, messages),
    });
    must(again.code === 0, `again: code ${again.code}: ${again.stderr}`);
    const all = filed(archiveIn(folder));
    const wanted = upTo(messages);
    must(all.join() === wanted.join(), `${all.length} messages of ${messages}, or another order`);
    const rejected = join(archiveIn(folder), '.received', '.rejected.jsonl');
    must(!existsSync(rejected), 'a message was rejected');
    await removeQueue(folder);
  },
});

/** What is asked of a server, each once. */
const ROUTES = [
  '/api/tables',
  '/api/findings',
  '/api/series?table=ross_pe&metric=events_processed&bins=4000',
  '/api/heatmap?metric=events_processed&sort=similar',
  '/api/matrix?level=lp',
  '/api/cascades',
  '/api/events',
];

/** Asks, and ends the server. What it could not answer is told in one line; what is asked next is answered. */
async function askAll(child: ChildProcess, told: string[]): Promise<void> {
  let said = '';
  child.stderr?.on('data', (data) => {
    said += data;
  });
  child.stdout?.on('data', (data) => {
    said += data;
  });
  try {
    await until(() => child.exitCode !== null || /http:\S+token=\S+/.test(said));
    const [, base, token] = /(http:\/\/[^/\s]+)\S*token=(\S+)/.exec(said) ?? [];
    if (base === undefined) return;
    for (const path of ROUTES) {
      const answer = await fetch(`${base}${path}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      const text = await answer.text();
      if (answer.status !== 200) told.push(`${path}: ${answer.status}: ${text}`);
    }
  } catch (error) {
    told.push(`gone: ${(error as Error).message}`);
  } finally {
    child.kill('SIGTERM');
  }
}

const refusedBy = new Map<string, string[]>();
const asked: Target = {
  name: 'serve, asked',
  prepare: copied,
  args: (folder) => ['serve', join(folder, 'run.tri'), '--port', '0'],
  meanwhile: (folder, child) => {
    const told: string[] = [];
    refusedBy.set(folder, told);
    return askAll(child, told);
  },
  async check(folder, { code }) {
    const told = refusedBy.get(folder) ?? [];
    // One allocation failed: one answer at most says so, in a line.
    must(code !== 0 || told.length <= 1, told.join(' / '));
    for (const line of told) {
      must(!/gone: | {4}at |\n/.test(line) || code !== 0, line);
    }
    const original = join((await whole()).folder, 'whole.tri', 'recording.json');
    const kept = readFileSync(join(folder, 'run.tri', 'recording.json'));
    must(kept.equals(readFileSync(original)), 'the recording has changed');
  },
};

const query: Target = {
  name: 'query',
  prepare: copied,
  args: (folder) => ['query', join(folder, 'run.tri'), SQL, '--json'],
  async check(folder, { code, stdout }) {
    const { answer } = await whole();
    if (code === 0) must(stdout === answer, `another answer: ${stdout}`);
    const again = await run(query.args(folder));
    must(again.stdout === answer, `another answer the second time: ${again.stdout}`);
  },
};

/** That read: of these only allocations fail. */
export const READERS: readonly Target[] = [query, asked];
