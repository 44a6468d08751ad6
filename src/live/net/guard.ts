/**
 * The only entry to this process by network: page, stream and metrics are served behind it. It refuses invalid requests
 * before other code sees them, and nothing that comes from outside becomes an exception.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ServerAccess, UNKNOWN } from './access.ts';
import { type AskedUrl, askedOf, isRefusal, type Refusal } from './asked.ts';
import { Connections } from './connections.ts';
import { CONNECTIONS, LIMITS, OTHERS, type RouteLimits } from './limits.ts';
import { listen, listenAt } from './listen.ts';
import type { Viewer } from './users.ts';

/** Everything from this server, nothing inline, nobody may frame it. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** A request that may be answered. */
export interface Admitted {
  readonly asked: AskedUrl;
  readonly limits: RouteLimits;
  readonly viewer: Viewer;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

interface GuardOptions {
  readonly access: ServerAccess;
  /** Answers; the guard catches what it throws. */
  answer(request: IncomingMessage, response: ServerResponse, admitted: Admitted): unknown;
  /** Takes a connection over; null: none can be. */
  readonly follow?: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    asked: AskedUrl,
  ) => Refusal | null;
}

const limitsOf = (path: string): RouteLimits =>
  (Object.hasOwn(LIMITS, path) ? LIMITS[path] : undefined) ?? OTHERS;

/** Cuts an answer off that is longer than its route may give: the last resort, routes say so themselves. */
function bound(response: ServerResponse, most: number): void {
  let sent = 0;
  const count = (part: unknown) => {
    if (typeof part === 'string') sent += Buffer.byteLength(part);
    else if (ArrayBuffer.isView(part)) sent += part.byteLength;
    if (sent > most) response.destroy();
    return sent <= most;
  };
  const { write, end } = response;
  response.write = ((...words: Parameters<typeof write>) =>
    count(words[0]) && write.apply(response, words)) as typeof write;
  response.end = ((...words: Parameters<typeof end>) =>
    count(words[0]) ? end.apply(response, words) : response) as typeof end;
}

export class RequestGuard {
  readonly connections = new Connections();
  private readonly options: GuardOptions;
  private readonly server: Server;

  constructor(options: GuardOptions) {
    this.options = options;
    this.server = createServer(
      {
        headersTimeout: CONNECTIONS.headers,
        requestTimeout: CONNECTIONS.request,
        keepAliveTimeout: CONNECTIONS.idle,
        connectionsCheckingInterval: CONNECTIONS.look,
        maxHeaderSize: CONNECTIONS.headerBytes,
      },
      (request, response) => this.request(request, response),
    );
    this.server.timeout = CONNECTIONS.silence;
    this.connections.watch(this.server);
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  /** Resolves to the port. @throws ServeError */
  listen(port: number, host: string): Promise<number> {
    return listen(this.server, port, host);
  }

  /** The same on a Unix socket. @throws ServeError */
  listenAt(path: string): Promise<void> {
    return listenAt(this.server, path);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /** Null where it may be answered. */
  private refusal(asked: AskedUrl): Refusal | null {
    const refusal = this.options.access.refusal(asked);
    if (refusal?.status === 403) return refusal;
    const takesBody = asked.method === 'POST' && limitsOf(asked.path).body > 0;
    if (!takesBody && asked.method !== 'GET' && asked.method !== 'HEAD') {
      return { status: 405, line: 'GET only; POST to /api/query' };
    }
    return refusal;
  }

  private request(request: IncomingMessage, response: ServerResponse): void {
    for (const one of [request, response]) one.on('error', () => {});
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const asked = askedOf(request);
    const refusal = isRefusal(asked) ? asked : this.refusal(asked);
    if (isRefusal(asked) || refusal?.status === 403) {
      if (refusal !== null) refuse(response, refusal);
      return;
    }
    const cookie = this.options.access.cookieFor(asked);
    if (cookie !== null) leadToPage(response, cookie, asked);
    else if (refusal !== null) refuse(response, refusal);
    else this.admit(request, response, asked, this.options.access.viewer(asked));
  }

  private admit(
    request: IncomingMessage,
    response: ServerResponse,
    asked: AskedUrl,
    viewer: Viewer | null,
  ): void {
    // The file of users may have changed this very moment.
    if (viewer === null) {
      refuse(response, UNKNOWN);
      return;
    }
    const leaving = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) leaving.abort();
    });
    const admitted = { asked, limits: limitsOf(asked.path), viewer, gone: leaving.signal };
    void this.answer(request, response, admitted);
  }

  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Admitted,
  ): Promise<void> {
    try {
      await this.options.answer(request, response, admitted);
    } catch (error) {
      process.stderr.write(`triscope: ${admitted.asked.path}: ${(error as Error).message}\n`);
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, line: 'something went wrong here' });
    }
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const asked = askedOf(request);
    let refusal = isRefusal(asked) ? asked : this.refusal(asked);
    if (refusal === null && !isRefusal(asked)) {
      const { follow, access } = this.options;
      this.connections.follows(socket as Socket);
      refusal =
        follow === undefined || access.viewer(asked)?.user !== null
          ? { status: 404, line: 'nothing can be followed here' }
          : follow(request, socket, head, asked);
    }
    if (refusal !== null) refuseUpgrade(socket, refusal);
  }
}

/** Lets `limits` of an answer hold; not for streams, whose followers have limits of their own. */
export const bounded = (response: ServerResponse, { limits }: Admitted): void =>
  bound(response, limits.answer);

/** Answers with why there is no answer, and ends the connection. */
export function refuse(response: ServerResponse, { status, line }: Refusal): void {
  const text = `${line}\n`;
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.end(text);
}

/** The page without the token in its address: what is after it (recording, view) stays. */
function leadToPage(response: ServerResponse, cookie: string, { query, headers }: AskedUrl): void {
  const rest = new URLSearchParams(query);
  rest.delete('token');
  const location = rest.size > 0 ? `/?${rest}` : '/';
  response.setHeader('Set-Cookie', cookie);
  if (headers['sec-fetch-site'] !== 'cross-site') {
    response.writeHead(303, { Location: location, 'Content-Length': 0 }).end();
    return;
  }
  // Browsers hold the new cookie back from a redirect that another site began: the page begins anew by itself.
  const text = `<!doctype html><meta http-equiv="refresh" content="0;url=${encodeURI(location).replaceAll('&', '&amp;')}">`;
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(text);
}

function refuseUpgrade(socket: Duplex, { status, line }: Refusal): void {
  const text = `${line}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
