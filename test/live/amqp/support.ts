/** Groups, and processes that publish or file them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const AMQP = new URL('../../../dist/live/amqp/index.js', import.meta.url).href;

const HEADER = '$tacc_stats 2.3.5\n$hostname n1.example\n$uname Linux\n$uptime 5\n!ps ctxt,E\n';
const SECOND = 1_700_000_000;

/** Message k of a host: a group, before every hundredth a header. */
export const message = (k: number) =>
  `${k % 100 === 1 ? HEADER : ''}\n${SECOND + k}.000000 - n1.example\nps - ${k}\n`;

/** Numbers of all groups of the host's files, in the order of the files. */
export function filed(archive: string): number[] {
  const folder = join(archive, 'n1.example');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(a) - Number(b))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('ps - '))
    .map((line) => Number(line.slice(5)));
}

export const upTo = (count: number) => Array.from({ length: count }, (_, k) => k + 1);

function run(script: string, settings: unknown, shell?: string): ChildProcess {
  const args = ['--input-type=module', '-e', script, JSON.stringify(settings)];
  if (shell === undefined)
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  return spawn('bash', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Publishes messages `from` to `to`, saying each number when it is safe in the spool; then waits to be ended. */
export const publisher = (settings: {
  port: number;
  queue: string;
  spool: string;
  from: number;
  to: number;
  every: number;
}) =>
  run(
    `import { AmqpPublisher } from '${AMQP}';
    const { from, to, every, ...broker } = JSON.parse(process.argv[1]);
    const HEADER = ${JSON.stringify(HEADER)};
    const publisher = new AmqpPublisher({ server: '127.0.0.1', retry: [50, 200], patience: 120_000, ...broker });
    for (let k = from; k <= to; k++) {
      const text = (k % 100 === 1 ? HEADER : '') + '\\n' + (${SECOND} + k) + '.000000 - n1.example\\nps - ' + k + '\\n';
      publisher.write(Buffer.from(text));
      console.log(k);
      await new Promise((resolve) => setTimeout(resolve, every));
    }
    await publisher.close();`,
    settings,
  );

/** Files messages until it is ended. */
export const consumer = (
  settings: { port: number; queue: string; archive: string },
  shell?: string,
) =>
  run(
    `import { AmqpConsumer, ArchiveWriter } from '${AMQP}';
    process.on('SIGXFSZ', () => {});
    const { archive, ...broker } = JSON.parse(process.argv[1]);
    const consumer = new AmqpConsumer({ server: '127.0.0.1', retry: [50, 200], archive: new ArchiveWriter(archive), ...broker, say: (line) => console.error(line) });
    process.on('SIGTERM', () => consumer.stop());
    console.log('ready');
    try { await consumer.run(); } catch (error) { console.error(error.message); process.exitCode = 1; }`,
    settings,
    shell,
  );

/** The last number that a publisher said. */
export function lastSaid(child: ChildProcess): () => number {
  let text = '';
  child.stdout?.on('data', (data) => {
    text += data;
  });
  return () => Number(text.trim().split('\n').at(-1) || 0);
}

export const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.on('exit', resolve);
  });

export const pause = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
