/** What a request says of itself, as far as one looks at it before knowing who asks. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Characters of an address. */
const MOST_ADDRESS = 8 * 1024;

export interface AskedUrl {
  readonly method: string;
  /** Always begins with `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Address of the other side. */
  readonly from: string;
  /** What it came by. */
  readonly socket: Socket;
}

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number;
  readonly line: string;
}

/** Of any text that came as an address, such as `//` or `http://[`: none of them throws. */
export function askedOf(request: IncomingMessage): AskedUrl | Refusal {
  const { method = '', url = '', headers, socket } = request;
  if (request.headersDistinct.host?.length !== 1) {
    return { status: 400, line: 'a request names its host, once' };
  }
  if (url.length > MOST_ADDRESS) return { status: 414, line: 'the address is too long' };
  const whole = `http://any${url}`;
  if (!url.startsWith('/') || !URL.canParse(whole)) {
    return { status: 400, line: 'the address is none' };
  }
  const { pathname, searchParams } = new URL(whole);
  const from = socket.remoteAddress ?? '';
  return { method, path: pathname, query: searchParams, headers, from, socket };
}

export const isRefusal = (one: AskedUrl | Refusal): one is Refusal => 'status' in one;
