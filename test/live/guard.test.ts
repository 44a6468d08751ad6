/** The guard before page, stream and metrics: what it refuses, what it bounds, and that nothing brings it down. */
import { connect, type Socket } from 'node:net';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/live/api/index.ts';
import { serveMetrics } from '../../src/live/metrics.ts';
import type { MetricsServer } from '../../src/live/metrics-http.ts';
import { Desk, GoneError, LateError } from '../../src/live/net/desk.ts';
import { Followers } from '../../src/live/net/followers.ts';
import { CrowdedError, Gate } from '../../src/live/net/gate.ts';
import { CONNECTIONS, FOLLOWERS, LIMITS, OTHERS } from '../../src/live/net/limits.ts';
import { ask, until } from './support/ask.ts';
import { recording } from './support/samples.ts';
import { TOKEN } from './support/token.ts';

let page: LiveServer;
let metrics: MetricsServer;
beforeAll(async () => {
  page = await startServer({ recording: recording() });
  metrics = await serveMetrics([], { port: 0 });
});
afterAll(async () => {
  await page.close();
  await metrics.close();
});

const well = async () => [
  (await ask(page.port, '/api/facts')).status,
  (await ask(metrics.port, '/metrics', { known: false })).status,
];

describe('limits', () => {
  it('are declared for each route, and for nothing else', () => {
    const routes = ROUTES.map(({ path }) => `/api${path}`);
    const others = ['/api/openapi.json', '/metrics'];
    expect(Object.keys(LIMITS).sort()).toEqual([...new Set([...routes, ...others])].sort());
    for (const limits of [...Object.values(LIMITS), OTHERS]) {
      for (const value of [limits.seconds, limits.memory, limits.answer]) {
        expect(value).toBeGreaterThan(0);
      }
    }
    // What takes a body is what is POSTed to.
    const bodies = Object.entries(LIMITS).filter(([, { body }]) => body > 0);
    expect(bodies.map(([path]) => path)).toContain('/api/query');
  });

  it('a gate lets so many in, so many wait, and no more; who goes while waiting does not come in', async () => {
    const gate = new Gate({ running: 1, waiting: 2 });
    const here = new AbortController();
    const gone = new AbortController();
    const first = await gate.enter(here.signal);
    const order: string[] = [];
    const second = gate.enter(gone.signal).then(
      () => order.push('second'),
      () => order.push('gone'),
    );
    const third = gate.enter(here.signal).then((leave) => {
      order.push('third');
      return leave;
    });
    await expect(gate.enter(here.signal)).rejects.toThrow(CrowdedError);
    gone.abort();
    await second;
    first();
    // Leaving twice makes no second place.
    first();
    (await third)();
    (await gate.enter(here.signal))();
    expect(order).toEqual(['gone', 'third']);
  });

  it('who waits too long, or goes, is told so; the place is kept until the work has ended', async () => {
    const desk = new Desk(new AbortController().signal);
    const limits = { ...OTHERS, gate: 'asked', seconds: 0.05 } as const;
    const never = new AbortController().signal;
    let end: () => void = () => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const stuck = [1, 2, 3].map(() => desk.serve(limits, never, () => work));
    for (const one of stuck) await expect(one).rejects.toThrow(LateError);
    // Three places, all taken by work that goes on.
    await expect(desk.serve(limits, never, () => 1)).rejects.toThrow(LateError);
    end();
    expect(await desk.serve({ ...limits, seconds: 60 }, never, () => 2)).toBe(2);
    const leaving = new AbortController();
    const left = desk.serve({ ...limits, seconds: 60 }, leaving.signal, (signal) => {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        leaving.abort();
      });
    });
    await expect(left).rejects.toThrow(GoneError);
  });

  it('bins of all entities that do not fit into memory are refused before they are made', async () => {
    const path = '/api/series?table=ross_pe&metric=gvt&bins=10000';
    expect((await ask(page.port, path)).status).toBe(200);
    const entities = Array.from({ length: 2000 }, (_, k) => k % 10).join(',');
    const { status, body } = await ask(page.port, `${path}&entities=${entities}`);
    expect([status, JSON.parse(String(body)).error]).toEqual([
      413,
      expect.stringContaining('20000000 bins of all entities are more than'),
    ]);
    const sums = Array.from({ length: 64 }, () => 'ross_pe:gvt').join(';');
    const several = `/api/series/several?sums=${sums}&from=0&to=1&bins=10000`;
    expect((await ask(page.port, several)).status).toBe(200);
  });
});

describe('requests of other sites', () => {
  it.each([
    ['cross-site', 'cors', '/api/facts', 403],
    ['cross-site', 'no-cors', '/api/facts', 403],
    // Another port of this machine: another user's page, perhaps.
    ['same-site', 'cors', '/api/facts', 403],
    ['cross-site', 'navigate', '/api/facts', 403],
    ['cross-site', 'navigate', '/', 200],
    ['same-origin', 'cors', '/api/facts', 200],
    ['none', 'navigate', '/api/facts', 200],
  ])('%s, %s, to %s: %d', async (site, mode, path, status) => {
    const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': mode };
    expect((await ask(page.port, path, { headers })).status).toBe(status);
  });

  it('the link of another site leads to the page by itself, as its redirect would lack the cookie', async () => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
    const path = `/?recording=made&token=${TOKEN}`;
    const own = await ask(page.port, path, { known: false });
    expect([own.status, own.headers.location]).toEqual([303, '/?recording=made']);
    const other = await ask(page.port, path, { headers, known: false });
    expect(other.status).toBe(200);
    expect(String(other.body)).toContain('content="0;url=/?recording=made"');
    expect(String(other.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Strict; Path=\/$/);
  });
});

/** Numbers from 0 to 1, the same each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'CONNECT', 'OPTIONS', 'TRACE', 'PRI', 'get', ''];
const PATHS = [
  ...['/', '//', '///', '//[', '/\\', '*', '', 'http://', 'http://[::1', '/?', '/#', '/%', '/%00'],
  ...['/api/facts', '/api/query', '/api/series?bins=1e400', '/live', '/live/events', '/metrics'],
  ...['/api/heatmap?within=1/2/3/4', '/api/job?job=__proto__', '/api/constructor', '/../..'],
  ...[`/${'a'.repeat(9000)}`, '/api/tables?recording=%ff', '/?token=', '/?token=%00&token=x'],
];
const HEADERS = [
  ...['Host: x', 'Host:', 'Host: [', 'Host: 127.0.0.1:99999', 'Origin: null', 'Origin: \u0001'],
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c', 'Expect: 100-continue'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
  ...['Content-Length: 99999999999', 'Content-Length: -1', 'Transfer-Encoding: chunked'],
  ...['Authorization: Bearer', `Authorization: Bearer ${TOKEN}`, 'Cookie: =;=;triscope', 'X'],
  ...['Accept: application/octet-stream', 'Content-Type: application/json', 'Range: bytes=0-'],
];

function hostile(draw: () => number): Buffer {
  const of = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)];
  const host = draw() < 0.7 ? ['Host: 127.0.0.1'] : [];
  const known = draw() < 0.5 ? [`Authorization: Bearer ${TOKEN}`] : [];
  const more = Array.from({ length: Math.floor(draw() * 6) }, () => of(HEADERS));
  const lines = [`${of(METHODS)} ${of(PATHS)} HTTP/1.1`, ...host, ...known, ...more];
  const body = draw() < 0.3 ? '{"sql": "SELECT 1"}' : '';
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
  if (draw() < 0.3) bytes[Math.floor(draw() * bytes.length)] = Math.floor(draw() * 256);
  return draw() < 0.2 ? bytes.subarray(0, Math.floor(draw() * bytes.length)) : bytes;
}

/** Sends `bytes`, and goes: rudely, or in good time. */
function send(port: number, bytes: Buffer, rude: boolean): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes);
      if (rude) setImmediate(() => socket.resetAndDestroy());
      else socket.end();
    });
    socket.on('data', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    setTimeout(() => socket.destroy(), 500).unref();
  });
}

describe('hostile requests', () => {
  it('2,000 of them end neither server', async () => {
    const draw = random(20_261_122);
    for (let k = 0; k < 1000; k += 50) {
      const some = Array.from({ length: 50 }, () => hostile(draw));
      await Promise.all(
        some.flatMap((bytes) => [
          send(page.port, bytes, draw() < 0.3),
          send(metrics.port, bytes, draw() < 0.3),
        ]),
      );
    }
    expect(await well()).toEqual([200, 200]);
  });

  it('1,100 connections that say half a line lock nobody out', async () => {
    for (const { port } of [page, metrics]) {
      const sockets: Socket[] = [];
      let closed = 0;
      for (let k = 0; k < 1100; k++) {
        const socket = connect(port, '127.0.0.1', () => socket.write('GET /'));
        socket.on('error', () => {});
        socket.on('close', () => closed++);
        sockets.push(socket);
      }
      expect(await well()).toEqual([200, 200]);
      await until(() => closed >= 1100 - CONNECTIONS.most);
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('followers', () => {
  /** One whose bytes wait. */
  async function stalled() {
    const { createServer } = await import('node:net');
    const server = createServer((socket) => void socket.pause());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const close = () => {
      socket.destroy();
      server.close();
    };
    return { socket, waiting: () => socket.writableLength, close };
  }

  it('have so many seats; who leaves makes room', async () => {
    const one = await stalled();
    const followers = new Followers({ ...FOLLOWERS, most: 1 });
    const leave = followers.take(one);
    expect(followers.take(one)).toBe(null);
    leave?.();
    expect(followers.take(one)).not.toBe(null);
    followers.close();
    one.close();
  });

  it('that take nothing are sent away, and counted', async () => {
    const one = await stalled();
    const followers = new Followers({ ...FOLLOWERS, patience: 50 }, 10);
    followers.take(one);
    // More than the system's buffers hold.
    one.socket.write(Buffer.alloc(32 * 1024 * 1024));
    await until(() => one.socket.destroyed);
    expect(followers.dropped).toBe(1);
    followers.close();
    one.close();
  });

  it('lose samples beyond one bound, never definitions; beyond the other they go, alone or in all', async () => {
    const [one, two] = [await stalled(), await stalled()];
    const room = { ...FOLLOWERS, waiting: 100, waitingAtMost: 64 * 1024 * 1024 };
    const followers = new Followers({ ...room, waitingInAll: 16 * 1024 * 1024 }, 10);
    followers.take(one);
    followers.take(two);
    expect([followers.hasRoom(one, false), followers.hasRoom(one, true)]).toEqual([true, true]);
    one.socket.write(Buffer.alloc(32 * 1024 * 1024));
    expect([followers.hasRoom(one, false), followers.hasRoom(one, true)]).toEqual([false, true]);
    await until(() => one.socket.destroyed);
    expect([followers.dropped, two.socket.destroyed]).toEqual([1, false]);
    two.socket.write(Buffer.alloc(80 * 1024 * 1024));
    expect(followers.hasRoom(two, true)).toBe(false);
    expect([followers.dropped, two.socket.destroyed]).toEqual([2, true]);
    followers.close();
    one.close();
    two.close();
  });
});
