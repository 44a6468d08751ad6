/**
 * Who may use a server: the one check for page, stream and metrics.
 * a request is meant for this server (Host: against DNS rebinding), comes from its own page or from no page (Origin,
 * Sec-Fetch-Site), and knows the token: by link once, then by cookie; programs by `Authorization: Bearer`.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { AskedUrl, Refusal } from './asked.ts';
import { Callers } from './callers.ts';
import { EVERYTHING, Users, type Viewer } from './users.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** Whether only this machine reaches an address. */
export const isLoopback = (address: string): boolean =>
  LOOPBACK.includes(address) || /^127\./.test(address);

const secret = () => randomBytes(32).toString('base64url');

/** Whether two texts are equal, in a time that does not tell how much of them is. */
function same(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** The name in `name:port`, `[::1]:port`. */
function nameOf(host: string): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}

function namesOfThisMachine(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => address.toLowerCase())];
}

/** Addresses, and networks such as `10.1.0.0/16`. @throws TypeError for other texts */
export function addressList(list: readonly string[]): BlockList {
  const found = new BlockList();
  for (const one of list) {
    const [address, bits, more] = one.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const isNetwork = bits !== undefined;
    const size = isNetwork && /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (isIP(address) === 0 || more !== undefined || (isNetwork && !(size <= most))) {
      throw new TypeError(`${one} is neither an address nor a network such as 10.1.0.0/16`);
    }
    if (isNetwork) found.addSubnet(address, size, family);
    else found.addAddress(address, family);
  }
  return found;
}

/** The answer to a request without a token that is known. */
export const UNKNOWN: Refusal = {
  status: 401,
  line: 'use the link that the server printed: it holds the token',
};

/** The answer to a user whom the machine's directories do not name. */
const NAMELESS: Refusal = { status: 401, line: 'this machine has no name for your user id' };

interface AccessOptions {
  /** What the server listens on. */
  readonly address: string;
  /** The token that is required; null: none. */
  readonly token: string | null;
  /** Who needs no token. */
  readonly allowed?: BlockList;
  /** A caller with the token, or on the list, may call this machine by any name, such as that of a Prometheus target. */
  readonly anyName?: boolean;
  /** File of users and their tokens, beside the token for everything. */
  readonly users?: string;
  /** It is a Unix socket's: callers are identified by the user of their process, and no token alone gives access. */
  readonly byCaller?: boolean;
}

/** The value of the cookie that a browser gets after it has presented a token. */
const sessionOf = (token: string): string =>
  createHmac('sha256', token).update('session').digest('base64url');

export class ServerAccess {
  readonly token: string | null;
  private readonly session: string;
  private readonly cookie: string;
  private readonly names: ReadonlySet<string> | null;
  private readonly allowed: BlockList | null;
  private readonly users: Users | null;
  private readonly callers: Callers | null;

  /** @throws ServeError where the file of users cannot be used */
  constructor({
    address,
    token,
    allowed,
    anyName = false,
    users,
    byCaller = false,
  }: AccessOptions) {
    this.token = token;
    // Derived from the token, so that it stays valid after a restart with the same token. Servers of one machine share
    // cookies, whatever their ports: each has a name of its own.
    const from = token ?? '';
    this.session = sessionOf(from);
    const name = createHmac('sha256', from).update('name').digest('hex');
    this.cookie = `triscope-${name.slice(0, 8)}`;
    const names = isLoopback(address) ? [] : namesOfThisMachine();
    this.names = anyName ? null : new Set([...LOOPBACK, address.toLowerCase(), ...names]);
    this.allowed = allowed ?? null;
    this.users = users === undefined ? null : new Users(users, sessionOf);
    this.callers = byCaller ? new Callers(this.users) : null;
  }

  /** Why a request is refused; null if it is answered. */
  refusal(asked: AskedUrl): Refusal | null {
    if (!this.isOurs(asked)) {
      const line =
        'this server answers to its own name, and to its own page: use the link that it printed';
      return { status: 403, line };
    }
    if (this.viewer(asked) !== null) return null;
    return this.callers === null ? UNKNOWN : NAMELESS;
  }

  /**
   * The header `Set-Cookie` for a browser that follows the page's link; null for all others. The address without the token
   * is `/`.
   */
  cookieFor({ method, path, query }: AskedUrl): string | null {
    const given = this.callers === null ? query.get('token') : null;
    if (method !== 'GET' || path !== '/' || given === null || this.byToken(given) === null) {
      return null;
    }
    return `${this.cookie}=${sessionOf(given)}; HttpOnly; SameSite=Strict; Path=/`;
  }

  private isOurs({ method, path, headers }: AskedUrl): boolean {
    const { host, origin } = headers;
    if (host === undefined) return false;
    if (this.names !== null && !this.names.has(nameOf(host))) return false;
    if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
      return false;
    const site = headers['sec-fetch-site'];
    if (site === undefined || site === 'none' || site === 'same-origin') return true;
    // Another site may link to the page, which it cannot read; nothing else.
    return method === 'GET' && path === '/' && headers['sec-fetch-mode'] === 'navigate';
  }

  /** The caller; null if unknown. */
  viewer({ query, headers: { cookie, authorization }, from, socket }: AskedUrl): Viewer | null {
    if (this.callers !== null) return this.callers.by(socket);
    if (this.allowed?.check(plainAddress(from), isIP(plainAddress(from)) === 6 ? 'ipv6' : 'ipv4')) {
      return EVERYTHING;
    }
    if (this.token === null) return this.allowed === null ? EVERYTHING : null;
    const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (bearer !== undefined) return this.byToken(bearer);
    const given = query.get('token');
    if (given !== null) return this.byToken(given);
    for (const one of (cookie ?? '').split(';')) {
      const at = one.indexOf('=');
      if (one.slice(0, at).trim() !== this.cookie) continue;
      const session = one.slice(at + 1);
      const viewer = same(session, this.session) ? EVERYTHING : this.users?.by(session);
      if (viewer != null) return viewer;
    }
    return null;
  }

  private byToken(given: string): Viewer | null {
    if (this.token !== null && same(given, this.token)) return EVERYTHING;
    return this.users?.by(given) ?? null;
  }
}

/** An address of version 4 within one of version 6 as itself. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

/** A token: that of the environment, or a new one. */
export const newToken = secret;
