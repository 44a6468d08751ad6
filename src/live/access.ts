/**
 * Who may talk to the server. On loopback: pages of this server itself, by name of this machine, so that other sites in
 * the same browser cannot reach it (Host and Origin are checked against DNS rebinding and cross-site requests).
 * On other addresses also a token, given once by link, then a cookie.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';

const COOKIE = 'triscope';
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

const isLoopback = (address: string): boolean => LOOPBACK.includes(address);

/** What a request says of itself. */
export interface Credentials {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
}

const secret = () => randomBytes(32).toString('base64url');

/** In a time that does not tell how much of it was right. */
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

export class Access {
  /** Null on loopback, where none is needed. */
  readonly token: string | null;
  readonly #session = secret();
  readonly #names: ReadonlySet<string>;

  /** `address`: what the server listens on. `token`: a known one; a new one where it is null. */
  constructor(address: string, token: string | null = null) {
    const loopback = isLoopback(address);
    this.token = loopback ? null : (token ?? secret());
    const names = loopback ? [] : [address.toLowerCase(), ...namesOfThisMachine()];
    this.#names = new Set([...LOOPBACK, ...names]);
  }

  /** Whether a request is meant for this server, and comes from its own page or from no page. */
  isOurs({ host, origin }: Credentials): boolean {
    if (host === undefined || !this.#names.has(nameOf(host))) return false;
    return origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`;
  }

  /** Whether a request may see data: by cookie, or by `Authorization: Bearer TOKEN`. */
  isKnown({ cookie, authorization }: Credentials): boolean {
    if (this.token === null) return true;
    const bearer = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
    if (bearer !== undefined) return this.isToken(bearer);
    const session = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(cookie ?? '')?.[1];
    return session !== undefined && same(session, this.#session);
  }

  isToken(given: string): boolean {
    return this.token !== null && same(given, this.token);
  }

  /** The `Set-Cookie` for who came with the token. */
  get setCookie(): string {
    return `${COOKIE}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }
}
