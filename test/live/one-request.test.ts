/** One request, or one reset, that once ended the process: an exception that nobody catches fails this file. */
import { connect } from 'node:net';
import { LiveBus, startServer } from 'triscope/live';
import { describe, expect, it } from 'vitest';
import { serveMetrics, serveNodeMetrics } from '../../src/live/metrics.ts';
import { ask, until } from './support/ask.ts';
import { TOKEN } from './support/token.ts';

/** What comes back on a connection of its own until the other side ends it. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

describe('GET // of a server of metrics', () => {
  it.each([
    ['node daemon --metrics', () => serveNodeMetrics({ port: 0 })],
    ['signal watch --metrics', () => serveMetrics([], { port: 0 })],
  ])('%s refuses it, and goes on', async (_, serve) => {
    const metrics = await serve();
    const { port } = metrics;
    for (const path of ['//', '//[', '/\\', 'http://', 'x', '*', '//:0']) {
      const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
      expect(await raw(port, request), path).toMatch(/^HTTP\/1\.1 4/);
    }
    expect((await ask(port, '/metrics')).status).toBe(200);
    await metrics.close();
  });
});

describe('a WebSocket that is refused and reset', () => {
  it.each([
    ['elsewhere', '/nowhere', '127.0.0.1'],
    ['under another name', '/live', 'evil.example'],
    ['that is followed', '/live', '127.0.0.1'],
  ])('%s ends its connection alone', async (_, path, host) => {
    const live = await startServer({ bus: new LiveBus({ title: 'run' }) });
    let closed = 0;
    const MANY = 50;
    for (let k = 0; k < MANY; k++) {
      const socket = connect(live.port, '127.0.0.1', () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${TOKEN}\r\n` +
            'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
        );
        if (k % 2 === 0) socket.resetAndDestroy();
        else setTimeout(() => socket.resetAndDestroy(), 1);
      });
      socket.on('error', () => {});
      socket.on('close', () => closed++);
    }
    await until(() => closed === MANY);
    expect((await ask(live.port, '/api/facts')).status).toBe(200);
    await live.close();
  });
});
