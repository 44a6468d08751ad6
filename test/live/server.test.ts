/** The server as a client sees it: data, live frames, and what it refuses. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { FrameDecoder, FrameEncoder } from '../../src/formats/frames/index.ts';
import { splitParts, unpackBins } from '../../src/view/binary.ts';
import { triscope, triscopeHere } from '../cli/support/run.ts';
import { until } from '../support/until.ts';
import { ask as request } from './support/ask.ts';
import { peBatch, recording } from './support/samples.ts';
import { BEARER, TOKEN } from './support/token.ts';

const folder = recording();
let server: LiveServer;

beforeAll(async () => {
  server = await startServer({ recording: folder });
});
afterAll(() => server.close());

const ask = (
  port: number,
  path: string,
  headers: Record<string, string> = {},
  host = '127.0.0.1',
) => request(port, path, { headers, host });

const json = async (path: string) => JSON.parse(String((await ask(server.port, path)).body));

describe('a recording', () => {
  it('has facts', async () => {
    expect(await json('/api/facts')).toMatchObject({
      title: 'made',
      state: 'finished',
      live: false,
      command: 'sim run phold',
      notes: [],
      pes: [
        { pe: 0, cpu: 0 },
        { pe: 1, cpu: 1 },
      ],
    });
  });

  it('has tables, of the simulator and of the node, on one time axis', async () => {
    const tables = await json('/api/tables');
    expect(tables.map((t: { name: string }) => t.name)).toEqual(['ross_pe', 'node_cpu']);
    expect(tables[0]).toMatchObject({ entities: ['0', '1'], rows: 20 });
    expect(tables[1]).toMatchObject({ entities: ['n1/0', 'n1/1'], rows: 22 });
    expect(tables[0].to).toBeCloseTo(1, 6);
    expect(tables[1].to).toBeCloseTo(1, 4);
  });

  it('has series: events a second, and CPU in per cent', async () => {
    const events = await json(
      '/api/series?table=ross_pe&metric=events_processed&from=0&to=1&bins=4',
    );
    expect(events.entities.map((e: { entity: string }) => e.entity)).toEqual(['0', '1']);
    for (const rate of events.entities[0].mean) expect(rate).toBeCloseTo(10_000, 1);
    for (const rate of events.entities[1].mean) expect(rate).toBeCloseTo(5000, 1);
    const cpu = await json('/api/series?table=node_cpu&metric=user,nice&from=0.2&to=0.8&bins=2');
    // The format's times are good to a microsecond.
    for (const share of cpu.entities[0].mean) expect(share).toBeCloseTo(50, 1);
    for (const share of cpu.entities[1].mean) expect(share).toBeCloseTo(100, 1);
  });

  it('gives null where nothing was measured', async () => {
    const { entities } = await json(
      '/api/series?table=ross_pe&metric=gvt&from=2&to=3&bins=2&entities=1',
    );
    expect(entities).toEqual([
      { entity: '1', min: [null, null], max: [null, null], mean: [null, null] },
    ]);
  });

  it('gives the same as bytes', async () => {
    const path = '/api/series?table=ross_pe&metric=events_processed&from=0&to=1.5&bins=6';
    const { body, headers } = await ask(server.port, path, { Accept: 'application/octet-stream' });
    expect(headers['content-type']).toBe('application/octet-stream');
    const { head, series } = unpackBins(new Uint8Array(body).buffer);
    const text = await json(path);
    expect(head).toEqual({ from: 0, to: 1.5, bins: 6, entities: ['0', '1'] });
    const plain = series.map(({ entity, min, max, mean }) => {
      const list = (values: Float32Array) => [...values].map((v) => (Number.isNaN(v) ? null : v));
      return { entity, min: list(min), max: list(max), mean: list(mean) };
    });
    expect(plain).toEqual(text.entities);
    const sums = 'ross_pe:gvt;ross_pe:events_processed';
    const several = await ask(server.port, `/api/series/several?sums=${sums}&from=0&to=1.5&bins=6`);
    const parts = splitParts(new Uint8Array(several.body).buffer);
    expect(parts.length).toBe(2);
    expect(unpackBins(parts[1])).toEqual({ head, series });
  });

  it.each([
    ['/api/series', 'there is no table'],
    ['/api/series?table=ross_pe', 'metric=… is missing'],
    ['/api/series?table=ross_pe&metric=a', 'has no metric'],
    ['/api/series?table=ross_pe&metric=gvt&from=x', 'must be seconds'],
    ['/api/series/several?from=0&to=1', 'must be 1 to 64 of TABLE:METRIC,METRIC'],
    ['/api/series/several?sums=ross_pe:gvt;ross_pe:a&from=0&to=1', 'has no metric'],
    ['/api/series/several?sums=ross_pe:gvt', 'must be seconds'],
    ['/api/series?table=ross_pe&metric=gvt&from=2&to=1', 'from before to'],
    ['/api/series?table=ross_pe&metric=gvt&bins=1e9', 'bins=… must be an integer of 1 to 10000'],
  ])('%s: 400, %s', async (path, expected) => {
    const { status, body } = await ask(server.port, path);
    expect(status).toBe(400);
    expect(JSON.parse(String(body)).error).toContain(expected);
  });

  it('with damage is shown as far as it can be read, with a note', async () => {
    const damaged = recording();
    writeFileSync(join(damaged, 'extra.frames'), Buffer.alloc(100, 7));
    const other = await startServer({ recording: damaged });
    const facts = JSON.parse(String((await ask(other.port, '/api/facts')).body));
    expect(facts.notes[0]).toContain('extra.frames: byte 0');
    const tables = JSON.parse(String((await ask(other.port, '/api/tables')).body));
    expect(tables.map((t: { name: string }) => t.name)).toEqual(['node_cpu']);
    await other.close();
  });
});

describe('what is refused', () => {
  it.each([
    ['another name of the server', { Host: 'evil.example' }],
    ['another name with its port', { Host: 'evil.example:80' }],
    ['another site', { Origin: 'http://evil.example' }],
    ['another port of this machine', { Origin: 'http://127.0.0.1:1' }],
    ['a file', { Origin: 'null' }],
  ])('%s', async (_, headers) => {
    expect((await ask(server.port, '/api/facts', headers)).status).toBe(403);
    expect((await ask(server.port, '/', headers)).status).toBe(403);
  });

  it('does not refuse its own page, under any name of loopback', async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
      const host = `${name}:${server.port}`;
      const headers = { Host: host, Origin: `http://${host}` };
      expect((await ask(server.port, '/api/facts', headers)).status).toBe(200);
    }
  });

  it.each([
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/assets/../../index.js',
    '/.built',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/api/../../package.json',
  ])('leads nowhere: %s', async (path) => {
    const { status, body } = await ask(server.port, path);
    expect(status).toBe(404);
    expect(String(body)).not.toContain('"name"');
  });

  it('sends a strict content security policy with everything', async () => {
    for (const path of ['/', '/api/facts', '/nothing']) {
      const { headers } = await ask(server.port, path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('the token', () => {
  const HOST = '127.0.0.1';
  let other: LiveServer;
  beforeAll(async () => {
    other = await startServer({ recording: folder, token: 'a-token-of-its-own' });
  });
  afterAll(() => other.close());
  const at = (path: string, headers: Record<string, string> = {}) =>
    request(other.port, path, { headers, host: HOST, known: false });

  it('wants the token, once; then a cookie', async () => {
    expect((await at('/api/facts')).status).toBe(401);
    expect((await at('/')).status).toBe(401);
    const link = new URL(other.url);
    const token = link.searchParams.get('token') ?? '';
    expect(token).toBe('a-token-of-its-own');
    const first = await at(link.pathname + link.search);
    expect([first.status, first.headers.location]).toEqual([303, '/']);
    const [cookie] = first.headers['set-cookie'] ?? [];
    expect(cookie).toContain('HttpOnly; SameSite=Strict');
    expect(cookie).not.toContain(token);
    const headers = { Cookie: `other=1; ${cookie.split(';')[0]}` };
    expect((await at('/api/facts', headers)).status).toBe(200);
    expect((await at('/api/facts', { Authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it('takes no other token or cookie', async () => {
    expect((await at('/?token=x')).status).toBe(401);
    expect((await at('/api/facts', { Cookie: 'triscope=x' })).status).toBe(401);
    expect((await at('/api/facts', { Authorization: 'Bearer x' })).status).toBe(401);
  });
});

interface Heard {
  readonly socket: WebSocket;
  readonly facts: { state: string; title: string }[];
  /** Rows of `ross_pe`, over all streams. */
  rows(): number;
  lost(): number;
}

async function follow(
  url: string,
  options: { origin?: string; headers?: Record<string, string> } = {},
  path = '/live',
): Promise<Heard> {
  const address = `${new URL(url).origin.replace('http', 'ws')}${path}`;
  const socket = new WebSocket(address, { headers: BEARER, ...options });
  const decoders = new Map<number, FrameDecoder>();
  const facts: Heard['facts'] = [];
  let rows = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) {
      facts.push(JSON.parse(String(data)).facts);
      return;
    }
    const stream = data.readUInt32LE(0);
    const decoder = decoders.get(stream) ?? new FrameDecoder();
    decoders.set(stream, decoder);
    for (const one of decoder.push(new Uint8Array(data.subarray(8)))) rows += one.rows;
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  const lost = () => [...decoders.values()].reduce((sum, decoder) => sum + decoder.lost, 0);
  return { socket, facts, rows: () => rows, lost };
}

describe('a live run', () => {
  it('reaches who follows from the start, and who comes late', async () => {
    const bus = new LiveBus({ title: 'run' });
    const live = await startServer({ bus });
    const early = await follow(live.url);
    for (let k = 0; k < 5; k++) bus.publish(peBatch(k));
    await until(() => early.rows() === 10);
    const late = await follow(live.url);
    await until(() => late.rows() === 10);
    bus.publish(peBatch(5));
    bus.update({ state: 'finished' });
    await until(() => early.rows() === 12 && late.rows() === 12 && late.facts.length === 2);
    expect(late.facts.map(({ state }) => state)).toEqual(['running', 'finished']);
    expect([early.lost(), late.lost(), bus.skipped, bus.followers]).toEqual([0, 0, 0, 2]);
    early.socket.close();
    await until(() => bus.followers === 1);
    await live.close();
  });

  it('takes frames of other encoders too, each as a stream of its own', async () => {
    const bus = new LiveBus();
    const live = await startServer({ bus });
    const [one, two] = [bus.stream(), bus.stream()];
    one(new FrameEncoder().encode(peBatch(0)));
    two(new FrameEncoder().encode(peBatch(1)));
    bus.publish(peBatch(2));
    const heard = await follow(live.url);
    await until(() => heard.rows() === 6);
    await live.close();
  });

  it('does not wait for a slow follower: frames are left out, counted, and missed by number', async () => {
    const bus = new LiveBus();
    const live = await startServer({ bus });
    const slow = await follow(live.url);
    const fast = await follow(live.url);
    slow.socket.pause();
    const { schema, columns } = peBatch(0);
    const rows = 20_000;
    const wide = {
      schema,
      rows,
      columns: columns.map((column) => {
        if (Array.isArray(column)) return new Array<string>(rows).fill('rt');
        const Made = column.constructor as new (length: number) => typeof column;
        return new Made(rows);
      }),
    };
    for (let sent = 0; bus.skipped === 0 && sent < 200; sent++) {
      bus.publish(wide);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(bus.skipped).toBeGreaterThan(0);
    slow.socket.resume();
    await until(() => {
      bus.publish(peBatch(9));
      return slow.lost() > 0;
    });
    await until(() => fast.rows() > 0);
    await live.close();
  });

  it('is shown from its recording once it has ended', async () => {
    const bus = new LiveBus({ title: 'a run' });
    const live = await startServer({ bus, recording: folder });
    const facts = async () => JSON.parse(String((await ask(live.port, '/api/facts')).body));
    expect(await facts()).toMatchObject({ title: 'a run', live: true });
    bus.update({ state: 'finished' });
    // The thread that serves hears of it as soon as it can.
    await expect.poll(facts).toMatchObject({ title: 'made', live: false });
    await live.close();
  });

  it('cannot be followed from other sites, or elsewhere', async () => {
    const bus = new LiveBus();
    const live = await startServer({ bus });
    await expect(follow(live.url, { origin: 'http://evil.example' })).rejects.toThrow('403');
    await expect(follow(live.url, {}, '/other')).rejects.toThrow('404');
    await expect(follow(live.url, { headers: {} })).rejects.toThrow('401');
    const own = await follow(live.url, { origin: new URL(live.url).origin });
    expect(own.socket.readyState).toBe(WebSocket.OPEN);
    await live.close();
  });
});

describe('triscope serve', () => {
  it('prints a link that works, and ends on Ctrl-C', async () => {
    const outcome = await triscope(['serve', folder, '--json'], {
      meanwhile: (child) => {
        child.stdout?.once('data', async (line: Buffer) => {
          const { url, port } = JSON.parse(String(line));
          const { status } = await ask(port, '/api/facts');
          process.stderr.write('');
          expect(status).toBe(200);
          expect(url).toBe(`http://127.0.0.1:${port}/?token=${TOKEN}`);
          child.kill('SIGINT');
        });
      },
    });
    expect(outcome.code).toBe(0);
  });

  it.each([
    [['serve'], 2, 'which recording?'],
    [['serve', '/nowhere.tri'], 3, '/nowhere.tri: there is no such file or folder'],
    [['serve', '/nowhere.tri', '--port', 'x'], 2, '--port=x: must be an integer'],
    [['serve', '/nowhere.tri', '--wrong'], 2, 'unknown option --wrong'],
  ])('%j: exit %d', async (words, code, expected) => {
    const outcome = await triscopeHere(words);
    expect(outcome.err).toContain(expected);
    expect(outcome.err.trim().split('\n')).toHaveLength(1);
    expect(outcome.code).toBe(code);
  });

  it('says that an address is not this machine’s', async () => {
    const outcome = await triscopeHere(['serve', folder, '--host', '192.0.2.1']);
    expect(outcome.err).toBe(
      'triscope: 192.0.2.1 is not an address of this machine; give one with --host, or 0.0.0.0 for all\n',
    );
    expect(outcome.code).toBe(1);
  });

  it('says that a port is taken', async () => {
    const outcome = await triscopeHere(['serve', folder, '--port', String(server.port)]);
    expect(outcome.err).toContain('is taken; give another with --port');
    expect(outcome.code).toBe(1);
  });
});
