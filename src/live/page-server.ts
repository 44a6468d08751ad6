/** The dashboard's server: page, API and live frames. server.ts starts it in a thread of its own. */
import { exitCodeOf } from '../model/error.ts';
import type { PageFacts } from '../view/facts/run.ts';
import type { Refused } from '../view/facts/served.ts';
import { application } from './application.ts';
import type { LiveBus } from './bus.ts';
import { Exhibit, type Find } from './exhibit.ts';
import { idsOf } from './ids.ts';
import { ServerAccess } from './net/access.ts';
import { Followers } from './net/followers.ts';
import { RequestGuard } from './net/guard.ts';
import { linkTo, ServeError } from './net/listen.ts';
import { serverMetrics } from './server-metrics.ts';
import { Sockets } from './sockets.ts';

export interface PageOptions {
  /** A live run to follow. */
  readonly bus: LiveBus | null;
  /** Of recordings to show; with a bus the first is what the run is being recorded into. */
  readonly paths: readonly string[];
  readonly port: number;
  readonly host: string;
  /** Null: whoever reaches the address may look. */
  readonly token: string | null;
  /** File of users, who see their own jobs. */
  readonly users: string | null;
  /** Path of a Unix socket to listen on, too, whose callers are known by their user id. */
  readonly socket: string | null;
}

export interface PageServer {
  readonly url: string;
  readonly port: number;
  /** Says more of the first recording than is written in it. */
  update(facts: Partial<PageFacts>): void;
  close(): Promise<void>;
}

interface Opened {
  readonly exhibits: Exhibit[];
  readonly refused: Refused[];
}

/**
 * What can be shown of several paths is, the rest is listed.
 * @throws InputError where none can be
 */
async function exhibitsOf({ bus, paths }: PageOptions): Promise<Opened> {
  if (bus === null && paths.length === 0) {
    throw new ServeError('there is no run and no recording to show');
  }
  const ids = idsOf(paths);
  const exhibits: Exhibit[] = [];
  const refused: (Refused & { readonly error: unknown })[] = [];
  for (const [k, path] of paths.entries()) {
    try {
      exhibits.push(await Exhibit.open(ids[k], k === 0 ? bus : null, path));
    } catch (error) {
      // What goes on is the first, or nothing is shown.
      if (exitCodeOf(error) === null || (k === 0 && bus !== null)) throw error;
      refused.push({ path, why: (error as Error).message, error });
    }
  }
  if (paths.length === 0) exhibits.push(await Exhibit.open('live', bus, null));
  if (exhibits.length === 0) throw refused[0].error;
  return { exhibits, refused: refused.map(({ path, why }) => ({ path, why })) };
}

/**
 * Starts it in this thread.
 * @throws ServeError; InputError where a recording is none
 */
export async function servePage(options: PageOptions): Promise<PageServer> {
  const { port, host, token, users, socket } = options;
  const who = { address: host, token, ...(users !== null && { users }) };
  const access = new ServerAccess(who);
  // Says at once what cannot be shown.
  const { exhibits, refused } = await exhibitsOf(options);
  for (const { why } of refused) process.stderr.write(`triscope: not shown: ${why}\n`);
  const closing = new AbortController();
  const find: Find = (id) =>
    id === null ? exhibits[0] : (exhibits.find((one) => one.id === id) ?? null);
  const followers = new Followers();
  const sockets = new Sockets({ find, followers });
  const metrics = serverMetrics(exhibits, followers);
  const served = {
    answer: application({ find, exhibits, refused, followers, closed: closing.signal, metrics }),
    follow: (...asked: Parameters<Sockets['follow']>) => sockets.follow(...asked),
  };
  const guard = new RequestGuard({ access, ...served });
  const actual = await guard.listen(port, host);
  const local =
    socket === null
      ? null
      : new RequestGuard({ access: new ServerAccess({ ...who, byCaller: true }), ...served });
  if (local !== null && socket !== null) {
    await local.listenAt(socket).catch(async (error: unknown) => {
      await guard.close();
      throw error;
    });
  }
  return {
    url: linkTo(host, actual, '/', token),
    port: actual,
    update: (facts) => exhibits[0].update(facts),
    close: async () => {
      closing.abort();
      followers.close();
      sockets.close();
      await Promise.all([guard.close(), local?.close()]);
      await Promise.all(exhibits.map((one) => one.close()));
    },
  };
}
