/** What changes while it is shown: recordings that another process writes, files that grow, files that go. */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LiveBus, startServer } from 'triscope/live';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FrameEncoder } from '../../src/formats/frames/index.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import type { ServedFacts } from '../../src/view/facts/served.ts';
import { messageOf } from '../../src/view/message.ts';
import { LiveStore } from '../../src/view/series/live-store.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import { json, query, until } from './support/ask.ts';
import { batch, peBatch, peRow, rawText, recording, ZERO_SECONDS } from './support/samples.ts';
import { BEARER } from './support/token.ts';

const made = () => mkdtempSync(join(tmpdir(), 'triscope-follow-'));

/** What a page does: keeps facts and samples, by whichever way they come. */
class Heard {
  readonly facts: ServedFacts[] = [];
  readonly store = new LiveStore();
  close: () => void = () => {};
  pause: () => void = () => {};
  resume: () => void = () => {};

  said(text: string): void {
    const { facts } = JSON.parse(text) as { facts: ServedFacts };
    this.facts.push(facts);
    this.store.zero = Number(BigInt(facts.zero) / 1000n) / 1e6;
  }

  took(bytes: Uint8Array): void {
    const { stream, frame, left } = messageOf(new Uint8Array(bytes).buffer);
    this.store.take(stream, frame, left);
  }

  get last(): ServedFacts | undefined {
    return this.facts.at(-1);
  }

  rows(table: string): number {
    return this.store.store.tables().find(({ name }) => name === table)?.rows ?? 0;
  }
}

async function bySocket(port: number, path = '/live'): Promise<Heard> {
  const heard = new Heard();
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: BEARER });
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) heard.took(data);
    else heard.said(String(data));
  });
  heard.close = () => socket.terminate();
  heard.pause = () => socket.pause();
  heard.resume = () => socket.resume();
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return heard;
}

async function byEvents(port: number, path = '/live/events'): Promise<Heard> {
  const heard = new Heard();
  await new Promise<void>((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers: BEARER }, (response) => {
      expect(response.headers['content-type']).toContain('text/event-stream');
      resolve();
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part;
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1] ?? '';
          if (event.startsWith('event: facts')) heard.said(data);
          if (event.startsWith('event: frame')) heard.took(Buffer.from(data, 'base64'));
        }
      });
      response.on('error', () => {});
    });
    request.on('error', reject);
    heard.close = () => request.destroy();
  });
  return heard;
}

const tables = (port: number) => json<TableFacts[]>(port, '/api/tables');

describe('server-sent events', () => {
  it('give what a WebSocket gives: facts, the past, and what comes', async () => {
    const bus = new LiveBus({ title: 'run' });
    const live = await startServer({ bus });
    for (let k = 0; k < 3; k++) bus.publish(peBatch(k));
    const heard = [await bySocket(live.port), await byEvents(live.port)];
    bus.publish(peBatch(3));
    await until(() => heard.every((one) => one.rows('ross_pe') === 8));
    bus.update({ state: 'finished' });
    await until(() => heard.every(({ last }) => last?.state === 'finished'));
    const [a, b] = heard.map(({ store }) => store.store.series('ross_pe', ['gvt'], 0, 1, 10));
    expect(a).toEqual(b);
    heard[1].close();
    await until(() => bus.followers === 1);
    heard[0].close();
    await live.close();
  });

  it('leave out tables that are not wanted; that counts as nothing lost', async () => {
    const bus = new LiveBus({ title: 'run' });
    const live = await startServer({ bus });
    const heard = [
      await bySocket(live.port, '/live?without=ross_pe'),
      await byEvents(live.port, '/live/events?without=ross_pe'),
    ];
    for (let k = 0; k < 3; k++) bus.publish(peBatch(k));
    const other = { ...peBatch(0), schema: { ...peBatch(0).schema, name: 'other' } };
    bus.publish(other);
    await until(() => heard.every((one) => one.rows('other') === 2));
    expect(heard.map((one) => one.rows('ross_pe'))).toEqual([0, 0]);
    expect(heard.map(({ store }) => store.lost)).toEqual([0, 0]);
    for (const one of heard) one.close();
    await live.close();
  });
});

/** The beginning of `recording()`, as while it is written: `running`, without samples. */
function begun() {
  const whole = recording();
  const folder = join(made(), 'run.tri');
  const manifest = JSON.parse(readFileSync(join(whole, 'recording.json'), 'utf8'));
  const say = (state: string) =>
    writeFileSync(join(folder, 'recording.json'), JSON.stringify({ ...manifest, state }));
  mkdirSync(join(folder, 'node', 'n1'), { recursive: true });
  writeFileSync(join(folder, 'extra.frames'), '');
  say('running');
  const node = join(folder, 'node', 'n1', String(ZERO_SECONDS));
  return { folder, say, frames: join(folder, 'extra.frames'), node };
}

describe('a run whose zero is told after its first samples', () => {
  it('goes on in an empty store, by what its streams have defined before', () => {
    let store = new LiveStore();
    const bus = new LiveBus();
    bus.follow({
      facts: () => {},
      frame: (stream, frame, _, left) => {
        store.take(stream, frame, left);
        return true;
      },
    });
    const rows = () => store.store.tables().map(({ name, rows }) => [name, rows]);
    bus.publish(peBatch(0));
    store = store.successor();
    expect(rows()).toEqual([]);
    bus.publish(peBatch(1));
    expect(rows()).toEqual([['ross_pe', 2]]);
  });
});

describe('a recording that another process writes', () => {
  it('comes sample by sample, frames and raw stats; then it is a recording', async () => {
    const { folder, say, frames, node } = begun();
    const server = await startServer({ recording: folder });
    const heard = await bySocket(server.port);
    await until(() => heard.last?.live === true);
    const encoder = new FrameEncoder();
    const bytes = Buffer.concat(
      Array.from({ length: 10 }, (_, k) => encoder.encode(peBatch(k))).flat(),
    );
    // In pieces that end where they like.
    const cut = bytes.length - 1001;
    appendFileSync(frames, bytes.subarray(0, cut));
    const text = rawText();
    appendFileSync(node, text.slice(0, 700));
    await until(() => heard.rows('ross_pe') > 0 && heard.rows('node_cpu') > 0);
    const partly = heard.rows('ross_pe');
    expect(partly).toBeLessThan(20);
    expect((await tables(server.port)).find(({ name }) => name === 'ross_pe')?.rows).toBe(partly);
    appendFileSync(frames, bytes.subarray(cut));
    appendFileSync(node, text.slice(700));
    await until(() => heard.rows('ross_pe') === 20 && heard.rows('node_cpu') === 22);
    expect(heard.store.lost).toBe(0);
    say('finished');
    await until(() => heard.last?.live === false);
    expect(heard.last).toMatchObject({ state: 'finished', title: 'run' });
    expect((await tables(server.port)).map(({ rows }) => rows)).toEqual([20, 22]);
    heard.close();
    await server.close();
  });

  it('is followed from its beginning by a server that comes late, or again', async () => {
    const { folder, frames } = begun();
    const encoder = new FrameEncoder();
    const write = (k: number) => appendFileSync(frames, Buffer.concat(encoder.encode(peBatch(k))));
    for (let k = 0; k < 4; k++) write(k);
    const first = await startServer({ recording: folder });
    const port = first.port;
    const heard = await bySocket(port);
    await until(() => heard.rows('ross_pe') === 8);
    await first.close();
    for (let k = 4; k < 6; k++) write(k);
    const second = await startServer({ recording: folder, port });
    // As the page does: what it has stays, what comes twice is taken once.
    const again = await bySocket(port);
    await until(() => again.rows('ross_pe') === 12);
    heard.close();
    again.close();
    await second.close();
  });

  it('that is longer than what waits for a page comes whole to one that takes it late', async () => {
    const { folder, frames } = begun();
    const encoder = new FrameEncoder();
    // 12 MB: more than the 8 MiB beyond which samples are left out.
    const ROWS = 2000;
    const BATCHES = 40;
    const wide = (k: number) => {
      const rows = Array.from({ length: ROWS }, (_, pe) => peRow(k, pe));
      return batch(ROSS_PE, rows);
    };
    for (let k = 0; k < BATCHES; k++) {
      appendFileSync(frames, Buffer.concat(encoder.encode(wide(k))));
    }
    expect(statSync(frames).size).toBeGreaterThan(9 * 1024 * 1024);
    const server = await startServer({ recording: folder });
    const heard = await bySocket(server.port);
    heard.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    heard.resume();
    await until(() => heard.rows('ross_pe') === BATCHES * ROWS);
    expect(heard.store.lost).toBe(0);
    heard.close();
    await server.close();
  });

  it('of a real run ends up as what the run wrote', async () => {
    const folder = made();
    const bin = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
    const words =
      'sim run phold --pes=2 --synch=3 --end=2000 --engine-stats=gvt,rt --rt-interval=20 --record=run'.split(
        ' ',
      );
    const run = spawn(process.execPath, [bin, ...words], { cwd: folder, stdio: 'ignore' });
    const ended = new Promise((resolve) => run.on('exit', resolve));
    const path = join(folder, 'run.tri');
    await until(() => {
      try {
        return readFileSync(join(path, 'recording.json')).length > 0;
      } catch {
        return run.exitCode !== null;
      }
    }, 30);
    const server = await startServer({ recording: path });
    const heard = await bySocket(server.port);
    expect(await ended).toBe(0);
    await until(() => heard.last?.state === 'finished');
    const { rows } = await query(server.port, { sql: 'SELECT count(*) FROM ross_pe' });
    const shown = (await tables(server.port)).find(({ name }) => name === 'ross_pe');
    expect(shown?.rows).toBe(rows[0][0]);
    heard.close();
    await server.close();
  });
});

describe('files that grow', () => {
  it('are read again, and pages are told', async () => {
    const folder = made();
    const text = rawText();
    const half = text.indexOf('\n', text.length / 2) + 1;
    const path = join(folder, String(ZERO_SECONDS));
    writeFileSync(path, text.slice(0, half));
    const server = await startServer({ recording: folder });
    const heard = await bySocket(server.port);
    await until(() => heard.last?.revision === 1);
    const [{ rows }] = await tables(server.port);
    appendFileSync(path, text.slice(half));
    await until(() => heard.last?.revision === 2);
    expect(heard.last?.live).toBe(false);
    expect((await tables(server.port))[0].rows).toBeGreaterThan(rows);
    const { rows: counted } = await query(server.port, { sql: 'SELECT count(*) FROM node_cpu' });
    expect(counted[0][0]).toBe(22);
    heard.close();
    await server.close();
  });
});

describe('files that go', () => {
  it('are told to be gone; what was read stays, and the server goes on', async () => {
    const folder = join(made(), 'gone.tri');
    cpSync(recording(), folder, { recursive: true });
    const server = await startServer({ recordings: [folder, recording()] });
    const heard = await bySocket(server.port);
    await until(() => heard.last?.gone === false);
    rmSync(folder, { recursive: true });
    await until(() => heard.last?.gone === true);
    expect(heard.last?.notes[0]).toContain('gone.tri was removed');
    expect((await tables(server.port)).map(({ rows }) => rows)).toEqual([20, 22]);
    const { status, error } = await query(server.port, { sql: 'SELECT count(*) FROM ross_pe' });
    expect([status, error]).toEqual([410, expect.stringContaining('was removed')]);
    expect(await json<unknown[]>(server.port, '/api/tables?recording=made')).toHaveLength(2);
    heard.close();
    await server.close();
  });

  it('while they are followed, too', async () => {
    const { folder } = begun();
    const server = await startServer({ recording: folder });
    const heard = await bySocket(server.port);
    await until(() => heard.last?.live === true);
    rmSync(folder, { recursive: true });
    await until(() => heard.last?.gone === true);
    expect((await json<ServedFacts>(server.port, '/api/facts')).gone).toBe(true);
    heard.close();
    await server.close();
  });
});
