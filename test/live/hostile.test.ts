/** Requests that mean harm, and those that are merely broken: each is refused, and the server goes on. */
import { connect } from 'node:net';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ask, json, query, until } from './support/ask.ts';
import { peBatch, recording } from './support/samples.ts';
import { TOKEN } from './support/token.ts';

const folder = recording();
let server: LiveServer;

beforeAll(async () => {
  server = await startServer({ recording: folder });
});
/** Whatever was done to it. */
afterAll(async () => {
  expect((await ask(server.port, '/api/facts')).status).toBe(200);
  await server.close();
});

/** Bytes as they are; what comes back until the server, or patience, ends it. */
function raw(bytes: string | Buffer, patience = 2000): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(end, patience);
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('close', end);
    socket.on('error', end);
  });
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const HOST = () => `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;

describe('broken HTTP', () => {
  it.each<[string, () => string, readonly number[]]>([
    ['no HTTP at all', () => 'hello\r\n\r\n', [400]],
    ['no Host', () => 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', [400, 403]],
    [
      'a Host that is none',
      () => 'GET / HTTP/1.1\r\nHost: a b\\c\r\nConnection: close\r\n\r\n',
      [400, 403],
    ],
    [
      'two Hosts',
      () => `GET / HTTP/1.1\r\n${HOST()}Host: evil.example\r\nConnection: close\r\n\r\n`,
      [400, 403],
    ],
    [
      'an absolute address of another host',
      () =>
        `GET http://evil.example/api/facts HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      [400, 403],
    ],
    [
      'a header of 20 kB',
      () => `GET / HTTP/1.1\r\n${HOST()}X: ${'x'.repeat(20_000)}\r\n\r\n`,
      [431],
    ],
    [
      '2,001 headers',
      () => `GET / HTTP/1.1\r\n${HOST()}${'X: y\r\n'.repeat(2001)}Connection: close\r\n\r\n`,
      [200, 431],
    ],
    [
      'a newline in a header',
      () => `GET / HTTP/1.1\r\n${HOST()}X: a\nEvil: b\r\nConnection: close\r\n\r\n`,
      [200, 400],
    ],
    [
      'two lengths',
      () =>
        `POST /api/query HTTP/1.1\r\n${HOST()}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    [
      'a zero byte in the path',
      () => `GET /%00 HTTP/1.1\r\n${HOST()}Connection: close\r\n\r\n`,
      [404],
    ],
    [
      'a wrong escape in the path',
      () => `GET /api/%E0%A4%A HTTP/1.1\r\n${HOST()}Connection: close\r\n\r\n`,
      [400, 404],
    ],
  ])('%s', async (_, request, expected) => {
    expect(expected).toContain(statusOf(await raw(request())));
  });
});

describe('too much', () => {
  it('an address of more than 8 kB', async () => {
    const { status } = await ask(server.port, `/api/facts?x=${'x'.repeat(9000)}`);
    expect(status).toBe(414);
  });

  it('a body of more than 64 kB, whether it says so or not', async () => {
    const body = JSON.stringify({ sql: 'SELECT 1', more: 'x'.repeat(70_000) });
    const headers = { 'Content-Type': 'application/json' };
    const said = { ...headers, 'Content-Length': String(body.length) };
    const post = { method: 'POST', body };
    expect((await ask(server.port, '/api/query', { ...post, headers: said })).status).toBe(413);
    const chunked = { ...headers, 'Transfer-Encoding': 'chunked' };
    expect((await ask(server.port, '/api/query', { ...post, headers: chunked })).status).toBe(413);
  });

  it('many heavy queries at once are answered in turn, or sent away; others are answered meanwhile', async () => {
    const sql = 'SELECT sum(a.range * b.range) FROM range(1000) a, range(1000) b';
    const heavy = Array.from({ length: 100 }, () => query(server.port, { sql }));
    expect((await ask(server.port, '/api/facts')).status).toBe(200);
    const statuses = (await Promise.all(heavy)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(60);
  });
});

describe('methods', () => {
  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'POST'])('%s changes nothing', async (method) => {
    const { status, headers } = await ask(server.port, '/api/facts', { method });
    expect(status).toBe(405);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('a query from another site is refused', async () => {
    const body = '{"sql": "SELECT 1"}';
    const headers = { 'Content-Type': 'application/json', Origin: 'http://evil.example' };
    const answer = await ask(server.port, '/api/query', { method: 'POST', headers, body });
    expect(answer.status).toBe(403);
  });
});

describe('paths', () => {
  it.each([
    '/../../etc/passwd',
    '/..%2f..%2f..%2fetc%2fpasswd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..\\..\\etc\\passwd',
    '/assets/..%5c..%5cpackage.json',
    '//etc/passwd',
    '/assets/%00../index.html',
    '/api/tables?recording=../../etc',
    '/api/tables?recording=%2e%2e%2fmade',
    `/api/tables?recording=${encodeURIComponent(folder)}`,
  ])('%s leads nowhere', async (path) => {
    const { status, body } = await ask(server.port, path);
    expect([400, 404]).toContain(status);
    expect(String(body)).not.toContain('root:');
  });
});

const HANDSHAKE = () =>
  `GET /live HTTP/1.1\r\n${HOST()}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';

describe('WebSockets', () => {
  it.each<[string, () => string, number]>([
    ['of another version', () => HANDSHAKE().replace('Version: 13', 'Version: 99'), 400],
    ['without a key', () => HANDSHAKE().replace(/Sec-WebSocket-Key.*\r\n/, ''), 400],
    ['of another protocol', () => HANDSHAKE().replace('Upgrade: websocket', 'Upgrade: evil'), 400],
    ['of no recording', () => HANDSHAKE().replace('/live', '/live?recording=..%2f'), 404],
    [
      'from another site',
      () => HANDSHAKE().replace('\r\n', '\r\nOrigin: http://evil.example\r\n'),
      403,
    ],
  ])('%s', async (_, request, expected) => {
    expect(statusOf(await raw(request()))).toBe(expected);
  });

  it.each<[string, readonly number[]]>([
    ['not masked', [0x81, 0x01, 0x41]],
    ['of an unknown kind', [0x83, 0x80, 0, 0, 0, 0]],
    ['with reserved bits', [0xf1, 0x80, 0, 0, 0, 0]],
    ['of 2^60 bytes', [0x82, 0xff, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['that is not UTF-8', [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]],
    ['a ping in pieces', [0x09, 0x80, 0, 0, 0, 0]],
  ])('a frame %s ends the connection, not the server', async (_, bytes) => {
    const request = Buffer.concat([Buffer.from(HANDSHAKE()), Buffer.from(bytes)]);
    const begun = Date.now();
    const answer = await raw(request, 30_000);
    expect(statusOf(answer)).toBe(101);
    // The server ended it, not our patience.
    expect(Date.now() - begun).toBeLessThan(30_000);
  });

  it('a message of more than 1 kB ends the connection', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/live?token=${TOKEN}`);
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    socket.on('open', () => socket.send('x'.repeat(2000)));
    expect(await closed).toBe(1009);
  });
});

describe('50 pages', () => {
  it('follow one run, each gets every sample; the one too many is sent away', async () => {
    const bus = new LiveBus({ title: 'run' });
    const live = await startServer({ bus });
    const url = `ws://127.0.0.1:${live.port}/live?token=${TOKEN}`;
    const heard = Array.from({ length: 50 }, () => {
      const socket = new WebSocket(url);
      const one = { socket, frames: 0, open: false };
      socket.on('open', () => {
        one.open = true;
      });
      socket.on('message', (_, isBinary) => {
        if (isBinary) one.frames++;
      });
      return one;
    });
    await until(() => heard.every(({ open }) => open));
    for (let k = 0; k < 20; k++) bus.publish(peBatch(k));
    // A schema, a dictionary, and 20 frames of samples.
    await until(() => heard.every(({ frames }) => frames === 22));
    expect([bus.followers, bus.skipped]).toEqual([50, 0]);
    expect(String((await ask(live.port, '/metrics')).body)).toContain('triscope_followers 50');
    const more = Array.from({ length: 256 }, () => new WebSocket(url));
    const refused = await Promise.all(
      more.map(
        (socket) =>
          new Promise<boolean>((resolve) => {
            socket.on('open', () => resolve(false));
            socket.on('error', () => resolve(true));
          }),
      ),
    );
    expect(refused.filter(Boolean)).toHaveLength(50);
    for (const { socket } of heard) socket.terminate();
    for (const socket of more) socket.terminate();
    const metrics = async () => String((await ask(live.port, '/metrics')).body);
    await until(async () => (await metrics()).includes('triscope_followers 0'));
    expect((await json<{ title: string }>(live.port, '/api/facts')).title).toBe('run');
    await live.close();
  });
});
