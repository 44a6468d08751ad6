/** `triscope serve PATH…`: the dashboard for recordings. */
import { idsOf } from '../../live/ids.ts';
import { startServer } from '../../live/index.ts';
import { flag, int, text } from '../../model/option.ts';
import { type Call, command, RECORDINGS } from '../command.ts';
import { onInterrupt } from '../interrupt.ts';
import { type Sides, sidesIn } from '../sides.ts';

const MOST_PORT = 65535;

const OPTIONS = {
  port: int(0, 'port to listen on', { min: 0, max: MOST_PORT, fallback: 'any that is free' }),
  host: text('', 'address to listen on', { placeholder: 'ADDRESS', fallback: '127.0.0.1' }),
  'no-token': flag(
    false,
    'no token: everybody who can reach 127.0.0.1, including other users of this machine, can open the page; otherwise the link holds a token, that of TRISCOPE_TOKEN or a new one',
  ),
  users: text(
    '',
    'file with a line per user: name and token. The token opens that user’s jobs only; with a third word all, everything',
    { placeholder: 'FILE', names: 'input' },
  ),
  socket: text(
    '',
    'Unix socket to listen on as well, for all users of this machine: who connects is known by the user id, without a token, and sees own jobs only. Root, the user who runs the server, and users with all in --users see everything',
    { placeholder: 'PATH', names: 'path' },
  ),
  json: flag(false, 'print {"url": …, "port": …}'),
};

/** The page's state that compares the runs of two sides. */
function comparing(words: readonly string[], { a }: Sides): string {
  const ids = idsOf(words);
  const state = new URLSearchParams({ view: 'compare', compare: ids.slice(a.length).join(',') });
  if (a.length > 1) state.set('compare.with', ids.slice(1, a.length).join(','));
  return state.toString().replaceAll('%2C', ',');
}

/** Serves until interrupted. Returns the exit code. @throws UsageError, RecordingError, ServeError */
async function run({ words, args, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const host = given.host;
  const sides = sidesIn(words, args);
  const server = await startServer({
    recordings: words,
    port: given.port ?? OPTIONS.port.default,
    ...(host !== undefined && { host }),
    ...(given.users !== undefined && { users: given.users }),
    ...(given.socket !== undefined && { socket: given.socket }),
    ...(given['no-token'] && { token: false }),
  });
  const { port: actual } = server;
  const url = sides === null ? server.url : `${server.url}#${comparing(words, sides)}`;
  process.stdout.write(given.json ? `${JSON.stringify({ url, port: actual })}\n` : `${url}\n`);
  const interrupt = onInterrupt();
  process.stderr.write('triscope: press Ctrl-C to stop\n');
  const interrupted = new Promise<null>((resolve) => {
    if (interrupt.signal.aborted) resolve(null);
    interrupt.signal.addEventListener('abort', () => resolve(null));
  });
  const failed = await Promise.race([interrupted, server.ended]);
  // Closing the server has a time limit of its own.
  interrupt.writing();
  interrupt.release();
  if (failed !== null) throw failed;
  await server.close();
  return 0;
}

export const serve = command({
  about:
    'Shows recordings’ folders, folders of native files, or files in the browser, until Ctrl-C. Prints the link on standard output. A recording that is still being written is followed. With several paths, the page can compare two; with -- between them, as for diff, repeated runs of each side.',
  arguments: [RECORDINGS],
  options: OPTIONS,
  examples: [
    'serve run.tri',
    'serve before.tri after.tri --port 8080',
    'serve a1.tri a2.tri -- b1.tri b2.tri',
  ],
  run,
});
