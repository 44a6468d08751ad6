/** `triscope serve PATH…`: the dashboard for recordings. */
import { parseArgs } from 'node:util';
import { startServer } from '../../live/index.ts';
import { UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';

const USAGE = `usage: triscope serve PATH… [--port N] [--host ADDRESS] [--json]

Shows recordings' folders, folders of native files, or files in the browser, until Ctrl-C. Prints
the link on standard output. What is being written is followed. Of several, the page compares two.

  --port N        port to listen on (any that is free)
  --host ADDRESS  address to listen on (127.0.0.1); on others, the link holds a token
  --json          print {"url": …, "port": …}`;

interface Call {
  readonly paths: readonly string[];
  readonly port: number;
  readonly host: string | undefined;
  readonly json: boolean;
}

const MOST_PORT = 65535;

/** Null for --help. @throws UsageError */
function read(args: readonly string[]): Call | null {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  let parsed: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args: [...args],
      options: { port: text, host: text, json: flag, help: { ...flag, short: 'h' } },
      allowPositionals: true,
    });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
  const { values, positionals } = parsed;
  if (values.help) return null;
  if (positionals.length === 0) {
    throw new UsageError('which recording? usage: triscope serve PATH… [--port N]');
  }
  const port = Number(values.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT) {
    throw new UsageError(`--port ${values.port}: it is 0 to ${MOST_PORT}`);
  }
  return { paths: positionals, port, host: values.host, json: values.json === true };
}

/** Serves until interrupted. Returns the exit code. @throws UsageError, RecordingError, ServeError */
export async function serve(args: readonly string[]): Promise<number> {
  const call = read(args);
  if (call === null) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const { paths, port, host } = call;
  const server = await startServer({
    recordings: paths,
    port,
    ...(host !== undefined && { host }),
  });
  const { url, port: actual } = server;
  process.stdout.write(call.json ? `${JSON.stringify({ url, port: actual })}\n` : `${url}\n`);
  const interrupt = onInterrupt();
  process.stderr.write('triscope: Ctrl-C ends it\n');
  await new Promise<void>((resolve) => {
    if (interrupt.signal.aborted) resolve();
    interrupt.signal.addEventListener('abort', () => resolve());
  });
  interrupt.release();
  await server.close();
  return 0;
}
