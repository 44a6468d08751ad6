/** What simulates or samples survives the end of its server; a server ends when it is told to, whatever it is doing. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { triscope } from '../cli/support/run.ts';
import { ask, query, until } from './support/ask.ts';
import { recording } from './support/samples.ts';
import { BEARER } from './support/token.ts';

const folder = mkdtempSync(join(tmpdir(), 'triscope-survives-'));

/** Makes the thread of a server throw soon after it has begun to listen. */
const crash = join(folder, 'crash.mjs');
writeFileSync(
  crash,
  `import { isMainThread, parentPort, workerData } from 'node:worker_threads';
   if (!isMainThread && workerData?.task?.port !== undefined) {
     const { postMessage } = parentPort;
     parentPort.postMessage = (said) => {
       postMessage.call(parentPort, said);
       setTimeout(() => { throw new Error('crashed on purpose'); }, 50);
     };
   }`,
);
const env = { NODE_OPTIONS: `--import=${pathToFileURL(crash).href}` };

describe('the end of a server’s thread', () => {
  it('is told, and a simulation goes on to the same digest', async () => {
    const run = (end: number, ...more: readonly string[]) => [
      ...'sim run phold --pes=2 --nlp=64 --lookahead=0.1 --json'.split(' '),
      ...[`--end=${end}`, ...more],
    ];
    // On a busy machine the server may begin to listen only after a short run has ended.
    let end = 3000;
    let served = await triscope(run(end, '--engine-stats=gvt', '--stream=ws'), { env });
    while (!served.err.includes('crashed on purpose') && end < 1e5) {
      end *= 4;
      served = await triscope(run(end, '--engine-stats=gvt', '--stream=ws'), { env });
    }
    const plain = await triscope(run(end));
    expect(served.err).toContain('the page’s server has ended: crashed on purpose');
    expect(served.code).toBe(0);
    const digest = ({ out }: { out: string }) => {
      const { eventDigest, stateDigest } = JSON.parse(out);
      return [eventDigest, stateDigest];
    };
    expect(digest(served)).toEqual(digest(plain));
  });

  it('is told, and a daemon samples on', async () => {
    const log = join(folder, 'log');
    const words = `node daemon --type.cpu --dir ${log} --freq 0.2 --count 10 --metrics 0`.split(
      ' ',
    );
    const daemon = await triscope(words, { env });
    expect(daemon.err).toContain('the server of metrics has ended: crashed on purpose');
    expect(daemon.err).toContain('10 samples');
    expect(daemon.code).toBe(0);
    const files = readdirSync(log).filter((name) => /^\d+$/.test(name));
    const groups = files.flatMap((name) =>
      readFileSync(join(log, name), 'utf8')
        .split('\n')
        .filter((line) => /^\d{9,}/.test(line)),
    );
    expect(groups).toHaveLength(10);
  });
});

/** Never done in time. */
const ENDLESS =
  'SELECT sum(a.range * b.range * c.range) FROM range(1000000) a, range(1000000) b, range(1000000) c';

/** Asks, and hangs up once the request is on its way. */
function hangUp(port: number, path: string, body?: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { ...BEARER, 'Content-Type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (answer) =>
      answer.resume(),
    );
    asked.on('error', () => {});
    asked.on('close', () => resolve());
    asked.end(body);
    setTimeout(() => asked.destroy(), 300);
  });
}

describe('triscope serve', () => {
  it('ends statements whose clients have gone, and itself under load', async () => {
    let signalled = 0;
    const outcome = await triscope(['serve', recording(), '--json'], {
      meanwhile: (child) => {
        child.stdout?.once('data', async (line: Buffer) => {
          const { port } = JSON.parse(String(line));
          const body = JSON.stringify({ sql: ENDLESS });
          await query(port, { sql: 'SELECT 1' });
          // At 20 s each, three at a time, they would take 200 s.
          const where = encodeURIComponent(`hosts > 0 AND (${ENDLESS}) > 0`);
          await Promise.all([
            ...Array.from({ length: 15 }, () => hangUp(port, '/api/query', body)),
            ...Array.from({ length: 15 }, () => hangUp(port, `/api/jobs?where=${where}`)),
          ]);
          await until(async () => (await query(port, { sql: 'SELECT 1' })).status === 200);
          for (let k = 0; k < 5; k++) void query(port, { sql: ENDLESS }).catch(() => {});
          await until(async () => (await ask(port, '/api/facts')).status === 200);
          signalled = performance.now();
          child.kill('SIGTERM');
        });
      },
    });
    // Two seconds, on a machine that has nothing else to do; statements alone would go on for 20 and more.
    expect(performance.now() - signalled).toBeLessThan(18_000);
    expect(outcome.code).toBe(0);
  });
});
