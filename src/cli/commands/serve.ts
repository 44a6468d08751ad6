/** `triscope serve PATH…`: the dashboard for recordings. */
import { startServer } from '../../live/index.ts';
import { UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { readPathOptions } from '../path-options.ts';

const USAGE = `usage: triscope serve PATH… [--port N] [--host ADDRESS] [--no-token] [--json]

Shows recordings' folders, folders of native files, or files in the browser, until Ctrl-C. Prints
the link on standard output. What is being written is followed. Of several, the page compares two.

  --port N        port to listen on (any that is free)
  --host ADDRESS  address to listen on (127.0.0.1)
  --no-token      show it to whoever reaches 127.0.0.1, other users of this machine too; else the
                  link holds a token: that of TRISCOPE_TOKEN, or a new one
  --json          print {"url": …, "port": …}`;

interface Call {
  readonly paths: readonly string[];
  readonly port: number;
  readonly host: string | undefined;
  readonly token: boolean;
  readonly json: boolean;
}

const MOST_PORT = 65535;

/** Null for --help. @throws UsageError */
function read(args: readonly string[]): Call | null {
  const specs = { port: 'text', host: 'text', 'no-token': 'switch', json: 'switch' } as const;
  const options = readPathOptions(args, specs, USAGE, 'recording');
  if (options === null) return null;
  const port = Number(options.text('port') ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT) {
    throw new UsageError(`--port ${options.text('port')}: it is 0 to ${MOST_PORT}`);
  }
  return {
    paths: options.paths,
    port,
    host: options.text('host'),
    token: !options.on('no-token'),
    json: options.on('json'),
  };
}

/** Serves until interrupted. Returns the exit code. @throws UsageError, RecordingError, ServeError */
export async function serve(args: readonly string[]): Promise<number> {
  const call = read(args);
  if (call === null) return 0;
  const { paths, port, host, token } = call;
  const server = await startServer({
    recordings: paths,
    port,
    ...(host !== undefined && { host }),
    ...(!token && { token: false }),
  });
  const { url, port: actual } = server;
  process.stdout.write(call.json ? `${JSON.stringify({ url, port: actual })}\n` : `${url}\n`);
  const interrupt = onInterrupt();
  process.stderr.write('triscope: Ctrl-C ends it\n');
  const interrupted = new Promise<null>((resolve) => {
    if (interrupt.signal.aborted) resolve(null);
    interrupt.signal.addEventListener('abort', () => resolve(null));
  });
  const failed = await Promise.race([interrupted, server.ended]);
  // It has a limit of its own.
  interrupt.writing();
  interrupt.release();
  if (failed !== null) throw failed;
  await server.close();
  return 0;
}
