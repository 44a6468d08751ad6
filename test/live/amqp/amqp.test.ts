/** Collectors, RabbitMQ and the archive: nothing is lost and nothing doubled, whoever dies. */
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AmqpConsumer, AmqpPublisher, Archive } from '../../../src/live/amqp/index.ts';
import { Spool } from '../../../src/live/amqp/spool.ts';
import { until } from '../../support/until.ts';
import { Broker, hasBroker } from './broker.ts';
import { consumer, ended, filed, lastSaid, message, pause, publisher, upTo } from './support.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const folder = () => mkdtempSync(join(tmpdir(), 'triscope-amqp-'));
const bytes = (text: string) => Buffer.from(text);
const stamp = (number: number) => ({ producer: 'p', number });

describe('the spool', () => {
  it('keeps messages over restarts, and never gives a number twice', () => {
    const place = { folder: folder(), most: 1e6 };
    const first = new Spool(place);
    first.add(bytes('one'));
    first.add(bytes('two'));
    first.confirm(1);
    const again = new Spool(place);
    expect(again.producer).toBe(first.producer);
    expect(again.first()).toEqual({ number: 2, message: bytes('two') });
    again.confirm(2);
    const empty = new Spool(place);
    expect(empty.first()).toBeNull();
    empty.add(bytes('three'));
    expect(empty.first()?.number).toBe(3);
  });

  it('gives up the oldest where it is full, and counts them', () => {
    const spool = new Spool({ folder: folder(), most: 10 });
    for (const text of ['aaaa', 'bbbb', 'cccc']) spool.add(bytes(text));
    expect(spool.lost).toBe(1);
    expect(spool.first()?.message.toString()).toBe('bbbb');
  });
});

describe('the archive', () => {
  it('begins a file at each header, named by the second of its first group; current is its other name', () => {
    const place = folder();
    const archive = new Archive(place);
    for (const k of [1, 2, 101, 102]) archive.append(bytes(message(k)), stamp(k));
    archive.close();
    const host = join(place, 'n1.example');
    expect(readdirSync(host).sort()).toEqual(['1700000001', '1700000101', 'current']);
    expect(readFileSync(join(host, '1700000001'), 'utf8')).toBe(message(1) + message(2));
    expect(statSync(join(host, 'current')).ino).toBe(statSync(join(host, '1700000101')).ino);
  });

  it('knows a message that comes again, also after a restart', () => {
    const place = folder();
    const archive = new Archive(place);
    expect(archive.append(bytes(message(1)), stamp(1))).toBe(true);
    expect(archive.append(bytes(message(1)), stamp(1))).toBe(false);
    archive.close();
    const again = new Archive(place);
    expect(again.append(bytes(message(1)), stamp(1))).toBe(false);
    expect(again.append(bytes(message(2)), stamp(2))).toBe(true);
    expect(filed(place)).toEqual([1, 2]);
  });

  it('cuts off a message that was written in part, and takes it when it comes again', () => {
    const place = folder();
    const archive = new Archive(place);
    for (const k of [1, 2, 3]) archive.append(bytes(message(k)), stamp(k));
    archive.close();
    const file = join(place, 'n1.example', '1700000001');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
    const again = new Archive(place);
    expect(again.append(bytes(message(3)), stamp(3))).toBe(true);
    expect(filed(place)).toEqual([1, 2, 3]);
    expect(readFileSync(file, 'utf8')).toBe(message(1) + message(2) + message(3));
  });

  it('refuses what is no group, and names of hosts that lead elsewhere', () => {
    const archive = new Archive(folder());
    const refused = (text: string | Buffer) => () => archive.append(Buffer.from(text), null);
    expect(refused('hello')).toThrow('it does not say of which host it is');
    expect(refused('$tacc_stats 1\n$hostname ../../etc\n')).toThrow(
      '"../../etc" is no name of a host',
    );
    expect(refused('\n12 - .received\nps - 1\n')).toThrow('is no name of a host');
    expect(refused(Buffer.from([0x24, 0xff, 0xfe]))).toThrow('it is no UTF-8');
  });

  it.skipIf(GOLDEN === undefined)(
    'files the messages of the original daemon (needs TRISCOPE_GOLDEN)',
    () => {
      const path = join(
        GOLDEN ?? '',
        'tacc_stats/daemon_messages/messages_hpcperfstats_2.3.5.jsonl',
      );
      const bodies = readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).body as string);
      const place = folder();
      const archive = new Archive(place);
      for (const body of bodies) archive.append(bytes(body), null);
      const host = join(place, 'c103-002.test.example');
      const files = readdirSync(host)
        .filter((name) => name !== 'current')
        .sort();
      expect(files.map((name) => readFileSync(join(host, name), 'utf8')).join('')).toBe(
        bodies.join(''),
      );
      expect(files).toHaveLength(bodies.filter((body) => body.startsWith('$')).length);
    },
  );
});

describe.skipIf(!hasBroker)('with RabbitMQ (needs rabbitmq-server)', () => {
  let broker: Broker;
  beforeAll(async () => {
    broker = await Broker.make();
  }, 120_000);
  afterAll(() => broker.remove(), 60_000);

  it('groups wait on disk while the broker is away, and arrive in order when it comes', async () => {
    const [spool, place] = [folder(), folder()];
    const lines: string[] = [];
    const at = { server: '127.0.0.1', port: broker.port, queue: 'away', retry: [50, 200] as const };
    const sender = new AmqpPublisher({ ...at, spool, say: (line) => lines.push(line) });
    for (let k = 1; k <= 20; k++) sender.write(bytes(message(k)));
    await pause(300);
    expect(sender.waiting).toBe(20);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^127\.0\.0\.1:\d+: .*ECONNREFUSED.*; groups wait in /);
    await broker.start();
    await until(() => sender.waiting === 0);
    expect(lines.at(-1)).toContain('the broker is back');
    await sender.close();
    const receiver = new AmqpConsumer({ ...at, archive: new Archive(place) });
    const done = receiver.run();
    await until(() => receiver.result.appended === 20);
    receiver.stop();
    expect(await done).toEqual({ appended: 20, repeated: 0, rejected: 0 });
    expect(filed(place)).toEqual(upTo(20));
  }, 200_000);

  it('a broker that is killed and comes back: nothing lost, nothing doubled', async () => {
    const [spool, archive] = [folder(), folder()];
    const at = { port: broker.port, queue: 'killed' };
    const sender = publisher({ ...at, spool, from: 1, to: 150, every: 10 });
    const said = lastSaid(sender);
    const receiver = consumer({ ...at, archive });
    await until(() => said() >= 40);
    await broker.end('SIGKILL');
    await pause(300);
    await broker.start();
    await until(() => filed(archive).length >= 150, 100);
    receiver.kill('SIGTERM');
    await Promise.all([ended(receiver), ended(sender)]);
    expect(filed(archive)).toEqual(upTo(150));
  }, 300_000);

  it('collectors and archive services that are killed again and again: nothing lost, nothing doubled', async () => {
    const [spool, archive] = [folder(), folder()];
    const at = { port: broker.port, queue: 'victims' };
    const said = new Set<number>();
    let receiver = consumer({ ...at, archive });
    for (let from = 1, turn = 0; from <= 200; turn++) {
      const sender = publisher({ ...at, spool, from, to: 200, every: 2 });
      const last = lastSaid(sender);
      const target = Math.min(200, from + 30);
      await until(() => last() >= target);
      sender.kill('SIGKILL');
      await ended(sender);
      for (let k = from; k <= last(); k++) said.add(k);
      // The next one may have been taken too, unsaid.
      from = last() + 2;
      if (turn % 2 === 0) {
        receiver.kill('SIGKILL');
        await ended(receiver);
        receiver = consumer({ ...at, archive });
      }
    }
    const end = publisher({ ...at, spool, from: 301, to: 301, every: 0 });
    await until(() => filed(archive).at(-1) === 301, 100);
    receiver.kill('SIGTERM');
    await Promise.all([ended(receiver), ended(end)]);
    const all = filed(archive);
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
    expect([...said].filter((k) => !all.includes(k))).toEqual([]);
  }, 300_000);

  it('an archive that cannot grow ends the service; the messages stay with the broker', async () => {
    const [spool, archive] = [folder(), folder()];
    const at = { port: broker.port, queue: 'full' };
    const sender = publisher({ ...at, spool, from: 1, to: 100, every: 0 });
    expect(await ended(sender)).toBe(0);
    const small = consumer({ ...at, archive }, 'ulimit -f 2');
    expect(await ended(small)).toBe(1);
    const receiver = consumer({ ...at, archive });
    await until(() => filed(archive).length >= 100);
    receiver.kill('SIGTERM');
    await ended(receiver);
    expect(filed(archive)).toEqual(upTo(100));
  }, 200_000);

  it('refuses a wrong password at once', async () => {
    const at = {
      server: '127.0.0.1',
      port: broker.port,
      queue: 'q',
      user: 'guest',
      password: 'wrong',
    };
    const receiver = new AmqpConsumer({ ...at, archive: new Archive(folder()) });
    await expect(receiver.run()).rejects.toThrow(/refuses guest/);
  }, 60_000);
});
