/**
 * Who sees which jobs: a file with a line per user, of name and token. Who comes with a user's token sees the jobs of that
 * user; with the word `all` after it, everything. The file is read again when it changes.
 */
import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { readTrusted, UntrustedError } from '../../os/trusted-file.ts';
import { ServeError } from './listen.ts';

/** A token that nobody guesses, and that an address may hold as it is. */
export const TOKEN = /^[\w-]{16,200}$/;
const NAME = /^\P{Cc}{1,256}$/u;
const MOST_BYTES = 16 * 2 ** 20;

/** Who asks. */
export interface Viewer {
  /** Whose jobs alone are to be seen; null: everything is. */
  readonly user: string | null;
}

export const EVERYTHING: Viewer = { user: null };

/** What is looked for is not compared letter by letter: how long that takes says nothing of a token. */
const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** By digests of tokens, and of what cookies hold. @throws ServeError with the line that is wrong */
function parse(path: string, text: string, sessionOf: (token: string) => string) {
  const viewers = new Map<string, Viewer>();
  const operators = new Set<string>();
  for (const [k, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0].startsWith('#')) continue;
    const wrong = (what: string) => new ServeError(`${path}: line ${k + 1}: ${what}`);
    const [user, token = '', rights, ...more] = words;
    if (!NAME.test(user)) throw wrong('the name of a user is wanted first');
    if (!TOKEN.test(token)) {
      // Who wrote the token first is not to see it printed.
      const whose = TOKEN.test(user) ? 'the token behind the name' : `the token of ${user}`;
      throw wrong(`${whose} must have 16 to 200 letters, digits, - and _`);
    }
    if ((rights !== undefined && rights !== 'all') || more.length > 0) {
      throw wrong('after the token nothing but “all” may stand');
    }
    if (viewers.has(digestOf(token))) throw wrong(`another user has the token of ${user}`);
    const viewer = rights === 'all' ? EVERYTHING : { user };
    if (rights === 'all') operators.add(user);
    viewers.set(digestOf(token), viewer);
    viewers.set(digestOf(sessionOf(token)), viewer);
  }
  return { viewers, operators };
}

const stampOf = (stats: Stats | undefined): string =>
  stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;

export class Users {
  private readonly path: string;
  private readonly sessionOf: (token: string) => string;
  private known: ReturnType<typeof parse>;
  private stamp: string;

  /**
   * @param sessionOf what the cookie of who came with a token holds
   * @throws ServeError where the file cannot be used
   */
  constructor(path: string, sessionOf: (token: string) => string) {
    this.path = path;
    this.sessionOf = sessionOf;
    this.stamp = stampOf(statSync(path, { throwIfNoEntry: false }));
    this.known = this.read();
  }

  /** Who has this token, or a cookie that came of it; null: nobody. */
  by(secret: string): Viewer | null {
    this.look();
    return this.known.viewers.get(digestOf(secret)) ?? null;
  }

  /** Whether the user of this name sees everything. */
  isOperator(user: string): boolean {
    this.look();
    return this.known.operators.has(user);
  }

  private read(): ReturnType<typeof parse> {
    try {
      const text = readTrusted(this.path, MOST_BYTES);
      if ((statSync(this.path).mode & 0o077) !== 0) {
        throw new UntrustedError(`${this.path}: others may read the tokens in it (chmod 600)`);
      }
      return parse(this.path, text, this.sessionOf);
    } catch (error) {
      if (error instanceof ServeError) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      throw new ServeError(code === undefined ? message : `${this.path}: cannot be read: ${code}`);
    }
  }

  /** Takes in what has changed. Of a file that cannot be used nobody is let in. */
  private look(): void {
    const stamp = stampOf(statSync(this.path, { throwIfNoEntry: false }));
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    this.known = { viewers: new Map(), operators: new Set() };
    try {
      this.known = this.read();
    } catch (error) {
      process.stderr.write(`triscope: ${(error as Error).message}; no user is let in\n`);
    }
  }
}
