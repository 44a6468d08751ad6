/** A RabbitMQ of the test's own, on free ports of the loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server itself: the command on the path starts a service of the whole machine. */
const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export const hasBroker = existsSync(SERVER);

/** Below those that the system hands out (ip_local_port_range): between here and its start the broker's are not taken by another test. */
const PORTS = { from: 15_000, to: 32_000 };

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isFree(port)) return port;
  }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const MOST_WAIT = 120_000;

export class Broker {
  readonly port: number;
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;
  private child: ChildProcess | null = null;

  private constructor(folder: string, ports: readonly number[]) {
    const [port, dist, epmd] = ports;
    this.port = port;
    this.folder = folder;
    this.env = {
      PATH: process.env.PATH,
      HOME: folder,
      RABBITMQ_NODENAME: `triscope${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(dist),
      ERL_EPMD_PORT: String(epmd),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_MNESIA_BASE: join(folder, 'db'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_PID_FILE: join(folder, 'pid'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: join(folder, 'none'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
    };
  }

  static async make(): Promise<Broker> {
    const folder = mkdtempSync(join(tmpdir(), 'triscope-broker-'));
    return new Broker(folder, [await freePort(), await freePort(), await freePort()]);
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    rmSync(join(this.folder, 'pid'), { force: true });
    this.child = spawn(SERVER, [], { env: this.env, stdio: 'ignore', detached: true });
    const until = Date.now() + MOST_WAIT;
    while (!(await answers(this.port))) {
      const { exitCode } = this.child;
      if (exitCode !== null) throw new Error(`RabbitMQ ended with exit code ${exitCode}`);
      if (Date.now() > until) throw new Error('RabbitMQ does not start');
      await pause(200);
    }
  }

  private get pid(): number {
    return Number(readFileSync(join(this.folder, 'pid'), 'utf8'));
  }

  /** Ends it with a signal, and waits for its end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    if (child === null) return;
    this.child = null;
    const ended =
      child.exitCode === null ? new Promise((resolve) => child.on('exit', resolve)) : null;
    process.kill(this.pid, signal);
    await ended;
    while (await answers(this.port)) await pause(50);
  }

  /** Ends it and all that it started, and removes its files. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    // Erlang's name server outlives the broker: it is found by the port it was told.
    spawn('epmd', ['-port', this.env.ERL_EPMD_PORT ?? '', '-kill'], { stdio: 'ignore' }).on(
      'error',
      () => {},
    );
    await pause(300);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
