/**
 * The dashboard's server, in a thread of its own: a run, or a sampler, in this one goes on whatever comes by network.
 */

import type { PageFacts } from '../view/facts/run.ts';
import type { LiveBus } from './bus.ts';
import { isLoopback, newToken } from './net/access.ts';
import { ServeError } from './net/listen.ts';
import { ServerThread } from './net/thread.ts';
import { TOKEN } from './net/users.ts';
import type { PageServer } from './page-server.ts';
import type { PageMessage, PageTask } from './page-worker.ts';

/** What is shown (a bus, a recording or several), and where it listens. */
export interface ServerOptions {
  /** A live run to follow. */
  readonly bus?: LiveBus;
  /** Path of a recording to show. With a bus too: what the run is being recorded into. */
  readonly recording?: string;
  /** Paths of more recordings. */
  readonly recordings?: readonly string[];
  /** TCP port to listen on; 0, the default, takes a free one. */
  readonly port?: number;
  /** Address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /**
   * The secret that a browser needs to look: it is in the result's `url`. By default the value of TRISCOPE_TOKEN, or a new
   * one; false: none is needed, which is allowed on 127.0.0.1 alone.
   */
  readonly token?: string | false;
  /** File of users and their tokens (docs/live.md): a browser with a user's token sees that user's jobs, and nothing else. */
  readonly users?: string;
  /**
   * Path of a Unix socket to listen on, too (Linux): who connects is known by the user of the process and sees own jobs;
   * root, the user who runs the server and operators of `users` see everything.
   */
  readonly socket?: string;
}

/**
 * A server of pages and API. `url` holds the token that lets in; `ended` resolves to why it ended, null where it was closed.
 */
export interface LiveServer extends PageServer {
  /** Link to the page, with the token. */
  readonly url: string;
  /** Resolves when it has ended: to null where it was closed, else to why. */
  readonly ended: Promise<Error | null>;
}

const LOOPBACK = '127.0.0.1';
/** Bytes of frames that wait for the thread, beyond which samples are left out. */
const MOST_WAITING_BYTES = 32 * 1024 * 1024;

/** @throws ServeError */
function tokenOf(options: ServerOptions) {
  const { token = process.env.TRISCOPE_TOKEN, host = LOOPBACK, users, socket } = options;
  if (token === false && (users ?? socket) !== undefined) {
    throw new ServeError(
      'without tokens everybody would see everything: leave out --no-token, or --users and --socket',
    );
  }
  if (token === false) {
    if (isLoopback(host)) return null;
    throw new ServeError(`without a token, the server listens on 127.0.0.1 only, not on ${host}`);
  }
  if (token === undefined || token === '') return newToken();
  if (TOKEN.test(token)) return token;
  throw new ServeError('a token must consist of 16 to 200 letters, digits, - and _');
}

/** Lets a run's samples go to the thread. Call the result to stop. */
function feed(bus: LiveBus, known: PageFacts, thread: ServerThread<PageMessage>): () => void {
  return bus.follow({
    facts: (facts) => {
      if (facts !== known) thread.post({ kind: 'facts', facts }, 0);
    },
    frame: (stream, frame, must, left) => {
      if (!must && thread.waiting > MOST_WAITING_BYTES) return false;
      thread.post({ kind: 'frame', stream, frame, left }, frame.length);
      return true;
    },
    counts: () => thread.shared.counts,
  });
}

/**
 * Starts the dashboard's server.
 * @throws ServeError; InputError where a recording is none
 * @example
 * ```ts
 * import { startServer } from 'triscope/live';
 *
 * const server = await startServer({ recording: 'run.tri' });
 * console.log(server.url); // holds the token
 * await server.close();
 * ```
 */
export async function startServer(options: ServerOptions): Promise<LiveServer> {
  const { bus, recording, recordings = [], port = 0, host = LOOPBACK } = options;
  const known = bus?.facts ?? null;
  const task: PageTask = {
    facts: known,
    paths: [...(recording === undefined ? [] : [recording]), ...recordings],
    port,
    host,
    token: tokenOf(options),
    users: options.users ?? null,
    socket: options.socket ?? null,
  };
  const thread = await ServerThread.start<PageMessage, PageTask>({
    name: 'the page’s server',
    script: new URL('page-worker.js', import.meta.url),
    task,
    killable: false,
  });
  const stop = bus === undefined || known === null ? null : feed(bus, known, thread);
  void thread.ended.then((why) => {
    stop?.();
    // Whoever follows a run in this process hears of it here; who only serves, by `ended`.
    if (why !== null && bus !== undefined) process.stderr.write(`triscope: ${why.message}\n`);
  });
  return {
    url: thread.url,
    port: thread.port,
    ended: thread.ended,
    update: (facts: Partial<PageFacts>) => thread.post({ kind: 'update', facts }, 0),
    close: () => thread.close(),
  };
}
