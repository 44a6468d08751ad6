/** `triscope node daemon --server` to `triscope node archive --server`, through RabbitMQ. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visitRaw } from '../formats/tacc/support/visit.ts';
import { Broker, hasBroker } from '../live/amqp/broker.ts';
import { ended } from '../live/amqp/support.ts';
import { until } from '../support/until.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const BIN = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
const start = (args: readonly string[]) =>
  spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });

/** The command of the documentation's systemd unit, for the broker of the test. */
function serviceOf(archive: string, port: number): string[] {
  const unit = new URL('../../examples/cluster/triscope-archive.service', import.meta.url);
  const command = /^ExecStart=\S*\/triscope (.*)$/m.exec(readFileSync(unit, 'utf8'))?.[1] ?? '';
  const own: Record<string, string> = {
    ['$' + '{BROKER}']: '127.0.0.1',
    '/archive': archive,
    collector: 'guest',
  };
  return [...command.split(' ').map((word) => own[word] ?? word), '--port', String(port)];
}

describe('what is published', () => {
  it('must say of which host it is', async () => {
    const dir = temporaryFolder();
    const { code, err } = await triscopeHere([
      'node',
      'daemon',
      '--dir',
      dir,
      '--server',
      'h',
      '--raw-version',
      '1',
    ]);
    expect(code).toBe(2);
    expect(err).toBe(
      'triscope: --raw-version 1 does not store the host in record groups; to publish them, use --raw-version 2\n',
    );
  });

  it('a wrong port is refused', async () => {
    const { code, err } = await triscopeHere([
      'node',
      'archive',
      '--archive',
      temporaryFolder(),
      '--server',
      'h',
      '--port',
      '99999',
    ]);
    expect(code).toBe(2);
    expect(err).toBe('triscope: --port=99999: must be an integer from 1 to 65535\n');
  });
});

describe.skipIf(!hasBroker)('with RabbitMQ (needs rabbitmq-server)', () => {
  let broker: Broker;
  beforeAll(async () => {
    broker = await Broker.make();
    await broker.start();
  });
  afterAll(() => broker.remove());

  it('samples of a daemon that is killed and started again are filed, each once', async () => {
    const [dir, archive] = [temporaryFolder(), temporaryFolder()];
    const at = ['--server', '127.0.0.1', '--port', String(broker.port), '--queue', 'cluster'];
    const service = start(serviceOf(archive, broker.port));
    let said = '';
    service.stderr.on('data', (data) => {
      said += data;
    });
    const files = () =>
      readdirSync(archive)
        .filter((name) => !name.startsWith('.'))
        .flatMap((host) =>
          readdirSync(join(archive, host)).map((name) => join(archive, host, name)),
        )
        .filter((path) => !path.endsWith('current'))
        .sort();
    const groups = () =>
      files().reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n\n').length - 1, 0);
    const daemon = [
      'node',
      'daemon',
      '--dir',
      dir,
      '--freq',
      '0.1',
      '--type.cpu',
      '--type.ps',
      ...at,
    ];
    const first = start([...daemon, '--count', '1000']);
    await until(() => groups() >= 4);
    first.kill('SIGKILL');
    await ended(first);
    const second = await triscope([...daemon, '--count', '5']);
    expect(second.err).toContain('5 samples');
    expect(second.code).toBe(0);
    // What the killed one left in its spool went first.
    await until(() => files().length >= 2 && groups() >= 9);
    service.kill('SIGTERM');
    expect(await ended(service)).toBe(0);
    expect(said).toMatch(/\d+ samples filed, [01] came again, 0 rejected/);
    expect(files().length).toBeGreaterThanOrEqual(2);
    const times: string[] = [];
    for (const path of files()) {
      const summary = visitRaw(path, {
        group: ({ time }) => void times.push(time),
      });
      expect(summary.problems).toBe(0);
    }
    expect(times).toEqual([...new Set(times)].sort());
    expect(times.length).toBeGreaterThanOrEqual(8);
  });
});
