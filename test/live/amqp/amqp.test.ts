/** Collectors, RabbitMQ and the archive: nothing is lost and nothing doubled, whoever dies. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeadLetters } from '../../../src/live/amqp/dead-letters.ts';
import { AmqpConsumer, AmqpPublisher, ArchiveWriter } from '../../../src/live/amqp/index.ts';
import { stampFrom } from '../../../src/live/amqp/message.ts';
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
    first.confirm({ producer: first.producer, number: 1 });
    const again = new Spool(place);
    expect(again.producer).toBe(first.producer);
    expect(again.first()).toEqual({
      producer: first.producer,
      number: 2,
      message: bytes('two'),
    });
    again.confirm({ producer: first.producer, number: 2 });
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

  it('keeps in memory what it cannot put on disk, in order, to a size, and counts what it gives up', () => {
    const place = folder();
    const spool = new Spool({ folder: place, most: 1e6, memory: 10 });
    spool.add(bytes('disk'));
    // Stands for a disk that is full, also where the user may write anything.
    mkdirSync(join(place, 'next.tmp'));
    for (const text of ['aaaa', 'bbbb', 'cccc']) spool.add(bytes(text));
    expect(spool.trouble).toContain('next');
    expect([spool.length, spool.inMemory, spool.lost]).toEqual([3, 2, 1]);
    rmSync(join(place, 'next.tmp'), { recursive: true });
    spool.add(bytes('again'));
    expect(spool.trouble).toBeNull();
    const taken: string[] = [];
    for (let next = spool.first(); next !== null; next = spool.first()) {
      // Numbers of memory die with the process: they are another producer's.
      expect(next.producer === spool.producer).toBe(/^(disk|again)$/.test(next.message.toString()));
      taken.push(`${next.number} ${next.message}`);
      spool.confirm(next);
    }
    expect(taken).toEqual(['1 disk', '2 bbbb', '3 cccc', '2 again']);
  });

  it('begins on a disk that is full, and keeps its name once it can', () => {
    const place = folder();
    mkdirSync(join(place, 'producer.tmp'));
    const spool = new Spool({ folder: place, most: 1e6 });
    spool.add(bytes('one'));
    expect(spool.inMemory).toBe(1);
    rmSync(join(place, 'producer.tmp'), { recursive: true });
    spool.add(bytes('two'));
    expect(spool.inMemory).toBe(1);
    expect(new Spool({ folder: place, most: 1e6 }).producer).toBe(spool.producer);
  });
});

describe('the archive', () => {
  it('begins a file at each header, named by the second of its first group; current is its other name', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    for (const k of [1, 2, 101, 102]) archive.append(bytes(message(k)), stamp(k));
    archive.close();
    const host = join(place, 'n1.example');
    expect(readdirSync(host).sort()).toEqual(['1700000001', '1700000101', 'current']);
    expect(readFileSync(join(host, '1700000001'), 'utf8')).toBe(message(1) + message(2));
    expect(statSync(join(host, 'current')).ino).toBe(statSync(join(host, '1700000101')).ino);
  });

  it('knows a message that comes again, also after a restart', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    expect(archive.append(bytes(message(1)), stamp(1))).toBe(true);
    expect(archive.append(bytes(message(1)), stamp(1))).toBe(false);
    archive.close();
    const again = new ArchiveWriter(place);
    expect(again.append(bytes(message(1)), stamp(1))).toBe(false);
    expect(again.append(bytes(message(2)), stamp(2))).toBe(true);
    expect(filed(place)).toEqual([1, 2]);
  });

  it('cuts off a message that was written in part, and takes it when it comes again', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    for (const k of [1, 2, 3]) archive.append(bytes(message(k)), stamp(k));
    archive.close();
    const file = join(place, 'n1.example', '1700000001');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
    const again = new ArchiveWriter(place);
    expect(again.append(bytes(message(3)), stamp(3))).toBe(true);
    expect(filed(place)).toEqual([1, 2, 3]);
    expect(readFileSync(file, 'utf8')).toBe(message(1) + message(2) + message(3));
  });

  it('refuses what is no group, and names of hosts that lead elsewhere', () => {
    const archive = new ArchiveWriter(folder());
    const refused = (text: string | Buffer) => () => archive.append(Buffer.from(text), null);
    expect(refused('hello')).toThrow('it does not name its host');
    expect(refused('$tacc_stats 1\n$hostname ../../etc\n')).toThrow(
      '"../../etc" is not a host name',
    );
    expect(refused('\n12 - .received\nps - 1\n')).toThrow('is not a host name');
    expect(refused(Buffer.from([0x24, 0xff, 0xfe]))).toThrow('it is not UTF-8');
  });

  it('refuses a time that is none, at once, and goes on', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    const poison = message(1).replace('1700000001', '99999999999999999999');
    for (let k = 0; k < 2; k++) {
      expect(() => archive.append(bytes(poison), null)).toThrow(
        '99999999999999999999 is not a number of seconds since 1970',
      );
    }
    archive.append(bytes(message(1)), null);
    expect(filed(place)).toEqual([1]);
  });

  it.each([
    ['p', Number.POSITIVE_INFINITY, 'its number is Infinity'],
    ['p', Number.NaN, 'its number is NaN'],
    ['p', 1.5, 'its number is 1.5'],
    ['p', 0, 'its number is 0'],
    ['p', -3, 'its number is -3'],
    ['p', '2', 'its number is 2'],
    ['p', undefined, 'its number is undefined'],
    ['../p', 1, 'its producer is not a name'],
    [7, 1, 'its producer is not a name'],
  ])('takes no number of %j: %j', (producer, number, why) => {
    expect(() => stampFrom(producer, number)).toThrow(why);
  });

  it('takes no number that leaps, so that a producer’s later messages are no repeats', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    archive.append(bytes(message(1)), stamp(1));
    expect(() => archive.append(bytes(message(2)), stamp(Number.MAX_SAFE_INTEGER))).toThrow(
      'its number is 9007199254740991, and the last one was 1',
    );
    expect(archive.append(bytes(message(2)), stamp(2))).toBe(true);
    expect(filed(place)).toEqual([1, 2]);
  });

  it.each(['constructor', '__proto__', 'toString'])('knows a producer called %s', (producer) => {
    const place = folder();
    for (const k of [1, 2]) {
      const archive = new ArchiveWriter(place);
      const append = () => archive.append(bytes(message(k)), { producer, number: k });
      expect([append(), append()]).toEqual([true, false]);
      archive.close();
    }
    expect(filed(place)).toEqual([1, 2]);
  });

  it('keeps the last numbers of 256 producers, the newest', () => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    for (let k = 1; k <= 300; k++) {
      archive.append(bytes('\n1700000001.0 - n1.example\nps - 1\n'), {
        producer: `p${k}`,
        number: 5,
      });
    }
    archive.close();
    const note = JSON.parse(readFileSync(join(place, '.received/n1.example'), 'utf8'));
    // And the one that is in `stamp`.
    expect(Object.keys(note.numbers)).toEqual(Array.from({ length: 256 }, (_, k) => `p${k + 44}`));
    expect(note.stamp.producer).toBe('p300');
  });

  it.each([
    '{',
    'null',
    '{"file":"../../../etc/hostname","before":0,"bytes":0,"numbers":{},"stamp":null}',
    '{"file":"1700000001","before":-1,"bytes":0,"numbers":{},"stamp":null}',
    '{"file":"1700000001","before":0,"bytes":0,"numbers":null,"stamp":null}',
  ])('begins anew where its note was damaged: %s', (text) => {
    const place = folder();
    new ArchiveWriter(place).append(bytes(message(1)), stamp(1));
    writeFileSync(join(place, '.received/n1.example'), text);
    expect(new ArchiveWriter(place).append(bytes(message(2)), stamp(2))).toBe(true);
    expect(filed(place)).toEqual([1, 2]);
  });

  it.each(['rejected', 'x'.repeat(253)])('files a host called %s', (host) => {
    const place = folder();
    const archive = new ArchiveWriter(place);
    archive.append(bytes(message(1).replaceAll('n1.example', host)), stamp(1));
    archive.rejected.add(bytes('hello'), 'it does not name its host');
    archive.append(bytes(message(2).replaceAll('n1.example', host)), stamp(2));
    expect(readdirSync(join(place, host))).toEqual(['1700000001', 'current']);
  });

  it('refuses a host that has the name of a file there', () => {
    const place = folder();
    writeFileSync(join(place, 'n1.example'), '');
    expect(() => new ArchiveWriter(place).append(bytes(message(1)), null)).toThrow(
      'the archive contains a file, not a folder, called n1.example',
    );
  });

  it('keeps what cannot be filed, with the reason, as far as there is room', () => {
    const letters = new DeadLetters(join(folder(), 'dead'), 200);
    expect(letters.add(bytes('hello\x1b[2J\n'), 'one')).toBe(true);
    expect(letters.add(Buffer.from([0x24, 0xff, 0xfe]), 'two')).toBe(true);
    expect(letters.add(bytes('y'.repeat(100)), 'three')).toBe(false);
    expect(letters.isFull).toBe(true);
    const lines = readFileSync(letters.path, 'utf8').trim().split('\n');
    expect(lines.map((line) => ({ ...JSON.parse(line), at: null }))).toEqual([
      { at: null, reason: 'one', text: 'hello\x1b[2J\n' },
      { at: null, reason: 'two', bytes: 'JP/+' },
    ]);
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
      const archive = new ArchiveWriter(place);
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
  });
  afterAll(() => broker.remove());

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
    const receiver = new AmqpConsumer({ ...at, archive: new ArchiveWriter(place) });
    const done = receiver.run();
    await until(() => receiver.result.appended === 20);
    receiver.stop();
    expect(await done).toEqual({ appended: 20, repeated: 0, rejected: 0 });
    expect(filed(place)).toEqual(upTo(20));
  });

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

  it('what cannot be filed is put by and counted, and what comes after it is filed', async () => {
    const place = folder();
    const at = { server: '127.0.0.1', port: broker.port, queue: 'poison' };
    const archive = new ArchiveWriter(place);
    const receiver = new AmqpConsumer({ ...at, archive });
    const done = receiver.run();
    const connection = await connect(`amqp://127.0.0.1:${broker.port}`);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('poison', { durable: true });
    const send = (text: string, number?: number) => {
      const headers = { 'x-triscope-producer': 'p', 'x-triscope-number': number };
      channel.sendToQueue('poison', bytes(text), number === undefined ? {} : { headers });
    };
    const never = message(2).replace('1700000002', '99999999999999999999');
    send(message(1), 1);
    send(never);
    send(never);
    send(message(2), Number.MAX_SAFE_INTEGER);
    send('hello');
    send(message(2), 2);
    await channel.waitForConfirms();
    await connection.close();
    await until(() => receiver.result.appended === 2);
    receiver.stop();
    expect(await done).toEqual({ appended: 2, repeated: 0, rejected: 4 });
    expect(filed(place)).toEqual([1, 2]);
    const lines = readFileSync(archive.rejected.path, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual([
      '99999999999999999999 is not a number of seconds since 1970',
      '99999999999999999999 is not a number of seconds since 1970',
      'its number is 9007199254740991, and the last one was 1',
      'it does not name its host',
    ]);
  });

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
  });

  it('what a failing disk refused once comes again, also where later messages were on their way', async () => {
    const at = { server: '127.0.0.1', port: broker.port, queue: 'once' };
    const place = folder();
    const archive = new ArchiveWriter(place);
    const { append } = archive;
    archive.append = (bytes, stamp) => {
      if (stamp?.number === 3) throw new Error('EIO: i/o error, write');
      return append.call(archive, bytes, stamp);
    };
    const publisher = new AmqpPublisher({ ...at, spool: folder() });
    for (const k of upTo(10)) publisher.write(bytes(message(k)));
    await publisher.close();
    const failing = new AmqpConsumer({ ...at, archive });
    await expect(failing.run()).rejects.toThrow('EIO');
    archive.close();
    expect(filed(place)).toEqual([1, 2]);
    const receiver = new AmqpConsumer({ ...at, archive: new ArchiveWriter(place) });
    const done = receiver.run();
    await until(() => receiver.result.appended + receiver.result.repeated >= 8);
    receiver.stop();
    await done;
    expect(filed(place)).toEqual(upTo(10));
  });

  it('refuses a wrong password at once', async () => {
    const at = {
      server: '127.0.0.1',
      port: broker.port,
      queue: 'q',
      user: 'guest',
      password: 'wrong',
    };
    const receiver = new AmqpConsumer({ ...at, archive: new ArchiveWriter(folder()) });
    await expect(receiver.run()).rejects.toThrow(/refuses guest/);
  });
});
