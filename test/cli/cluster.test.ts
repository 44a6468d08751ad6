/** docs/cluster.md and the files it names: what one machine can run of them is run. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { seriesFor } from '../../src/live/node-text.ts';
import { NODE_TYPES } from '../../src/node/types/index.ts';
import { Dashboard, metricsIn } from './support/dashboard.ts';
import { BIN } from './support/run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOC = readFileSync(join(ROOT, 'docs/cluster.md'), 'utf8');
const example = (name: string) => readFileSync(join(ROOT, 'examples/cluster', name), 'utf8');
const SCRIPT = join(ROOT, 'examples/cluster/job.sbatch');
const JOB = '4711';
const hasMpi = spawnSync('mpirun', ['--version']).status === 0;

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'triscope-cluster-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, 'triscope'));
  symlinkSync(process.execPath, join(bin, 'node'));
  const host = hostname();
  env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    PORT: String(await freePort()),
    // As Slurm sets them for a job of two tasks on this host.
    SLURM_JOB_ID: JOB,
    SLURM_JOBID: JOB,
    SLURM_SUBMIT_DIR: folder,
    SLURM_JOB_NODELIST: host,
    SLURM_NODELIST: host,
    SLURM_JOB_NUM_NODES: '1',
    SLURM_NNODES: '1',
    SLURM_NTASKS: '2',
    SLURM_TASKS_PER_NODE: '2',
    // Of the machine that runs the test: root, and perhaps fewer CPUs than ranks.
    OMPI_ALLOW_RUN_AS_ROOT: '1',
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
    OMPI_MCA_rmaps_base_oversubscribe: '1',
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the batch script as Slurm would. */
function batch(
  args: readonly string[],
  job = JOB,
  meanwhile: (child: ChildProcess) => void = () => {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn('bash', [SCRIPT, ...args], { env: { ...env, SLURM_JOB_ID: job } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  meanwhile(child);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

const recordingOf = (job: string) =>
  JSON.parse(readFileSync(join(folder, `run-${job}.tri/recording.json`), 'utf8'));

describe.skipIf(!hasMpi)('the batch script (needs Open MPI)', () => {
  beforeAll(async () => {
    const { code, out, err } = await batch(['phold', '--nlp=100', '--end=400', '--gvt-interval=4']);
    expect([code, err.replace(/^triscope: .*(rows of|%).*\n/gm, '')]).toEqual([0, '']);
    expect(out).toMatch(/Efficiency/);
  });

  it('runs a rank per task and leaves a recording', () => {
    const { state, pes } = recordingOf(JOB);
    expect(state).toBe('finished');
    const places = (pes as { rank: number; host: string }[]).map(({ rank, host }) => [rank, host]);
    expect(places).toEqual([
      [0, hostname()],
      [1, hostname()],
    ]);
  });

  it('adds the run to a lake whose partitions are run and host', async () => {
    const db = await (await DuckDBInstance.create(':memory:')).connect();
    const rows = await db.runAndReadAll(
      `SELECT run, host, count(DISTINCT pe_id) AS pes, sum(events_processed) > 0 AS some
       FROM read_parquet('${folder}/lake/ross_pe/*/*/*.parquet', hive_partitioning = true) GROUP BY ALL`,
    );
    expect(rows.getRowObjectsJson()).toEqual([
      { run: JOB, host: hostname(), pes: '2', some: true },
    ]);
    db.closeSync();
    expect(readdirSync(folder).filter((name) => name.startsWith('parquet-'))).toEqual([]);
  });

  it('has a table for Trino with the columns and types of the files', async () => {
    const host = join(folder, `lake/ross_pe/run=${JOB}`, `host=${hostname()}`);
    const file = await asyncBufferFromFile(join(host, readdirSync(host)[0]));
    const { schema } = await parquetMetadataAsync(file);
    const typeOf = (type?: string, converted?: string) =>
      ({ UINT_32: 'BIGINT', UTF8: 'VARCHAR' })[converted ?? ''] ??
      { DOUBLE: 'DOUBLE', FLOAT: 'REAL' }[type ?? ''];
    const columns = schema
      .slice(1)
      .map(({ name, type, converted_type }) => `${name} ${typeOf(type, converted_type)}`);
    const [, body] = /CREATE TABLE \S+ \(\n([^)]*)\n\)/.exec(example('ross_pe.sql')) ?? [];
    expect(body?.split(',\n').map((line) => line.trim())).toEqual([
      ...columns,
      'run VARCHAR',
      'host VARCHAR',
    ]);
  });

  it('ends the recording when Slurm says that the time is nearly up', async () => {
    // As sbatch sends it: --signal=B:USR2@60.
    const [, warning] = /^#SBATCH --signal=B:(\w+)@60$/m.exec(example('job.sbatch')) ?? [];
    const { code, out } = await batch(['phold', '--nlp=10', '--end=1e9'], '12', async (child) => {
      const file = join(folder, 'run-12.tri/stats-output/ross-stats-gvt.bin');
      while (child.exitCode === null && !existsSync(file)) {
        await new Promise((r) => setTimeout(r, 50));
      }
      child.kill(`SIG${warning}` as NodeJS.Signals);
    });
    expect(code).toBe(130);
    expect(out).toMatch(/^Interrupted at virtual time \d+/m);
    expect(recordingOf('12').state).toBe('interrupted');
    expect(existsSync(join(folder, 'lake/ross_pe/run=12'))).toBe(true);
  });

  const blocks = [...DOC.matchAll(/^## (.*)$|^```sh\n([\s\S]*?)^```$/gm)].reduce<
    [string, string][]
  >((all, [, title, text]) => {
    if (title !== undefined) all.push([title, '']);
    else all[all.length - 1][1] += text;
    return all;
  }, []);
  const commands = blocks.filter(([, text]) => text !== '');

  it('is on a page with commands to run', () => {
    expect(commands.length).toBeGreaterThanOrEqual(4);
  });

  it.each(commands)('the commands under “%s” do what they say', async (_title, text) => {
    const { stdout } = await promisify(execFile)(
      // With all that it has started, should it not end.
      'timeout',
      ['50', 'bash', '-euo', 'pipefail', '-c', text],
      { cwd: folder, env },
    );
    if (text.includes('curl')) {
      expect(stdout).toMatch(/^triscope_node_cpu_user_seconds_total\{host="[^"]+",device="0"\} /m);
    }
    if (text.includes('--format csv')) {
      const samples = readFileSync(join(folder, 'samples.csv'), 'utf8');
      for (const mark of ['begin', 'end']) expect(samples).toContain(`${mark} ${JOB}`);
    }
  });

  it('gives a recording whose OpenMetrics have all that the dashboard of runs asks for', () => {
    const dashboard = new Dashboard(join(ROOT, 'examples/grafana/triscope-run.json'));
    const served = metricsIn(readFileSync(join(folder, `run-${JOB}.om`), 'utf8'));
    expect(dashboard.problems()).toEqual([]);
    expect(dashboard.unknown(served)).toEqual([]);
  });
});

describe('Prometheus and Grafana', () => {
  it('the dashboard of nodes asks for what daemons serve', async () => {
    const dashboard = new Dashboard(join(ROOT, 'examples/grafana/triscope-node.json'));
    expect(dashboard.problems()).toEqual([]);
    const port = await freePort();
    const dir = join(folder, 'served');
    const daemon = spawn(
      process.execPath,
      [BIN, 'node', 'daemon', '--dir', dir, '--freq', '1', '--metrics', String(port)],
      { stdio: 'ignore' },
    );
    let text = '';
    for (let k = 0; k < 200 && !text.includes('triscope_node_cpu_user'); k++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
        (response) => response.text(),
        () => '',
      );
    }
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.on('close', resolve));
    const served = metricsIn(text);
    expect(served.size).toBeGreaterThan(40);
    // What this machine lacks is served elsewhere, under the names that its types give it.
    for (const { name: type, metrics } of NODE_TYPES) {
      if ([...served.keys()].some((name) => name.startsWith(`triscope_node_${type}_`))) continue;
      for (const { key, kind, unit, bits } of metrics) {
        const { name } = seriesFor(type, { name: key, kind, unit, bits } as never);
        served.set(name, new Set(['host', 'device']));
      }
    }
    expect(dashboard.unknown(served)).toEqual([]);
  });

  it('the scrape configuration names the port, the path and the token of the page', () => {
    const config = parse(example('prometheus.yml'));
    const [job] = config.scrape_configs;
    expect(job.metrics_path).toBe('/metrics');
    expect(job.authorization).toEqual({
      type: 'Bearer',
      credentials_file: '/etc/prometheus/triscope.token',
    });
    for (const target of job.static_configs[0].targets) expect(target).toMatch(/^[\w-]+:9101$/);
    expect(DOC).toContain('PORT:-9101');
  });
});

describe('what is set up', () => {
  it('is named on the page, and what the page names is there', () => {
    const links = [...DOC.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path);
    expect(links.filter((path) => !existsSync(join(ROOT, 'docs', path)))).toEqual([]);
    for (const name of readdirSync(join(ROOT, 'examples/cluster'))) expect(DOC).toContain(name);
  });

  it('both images have the same packages, and the program', () => {
    for (const file of ['Dockerfile', 'triscope.def']) {
      const text = example(file);
      expect(text).toContain('node:20-bookworm-slim');
      expect(text).toContain('openmpi-bin libopenmpi3\n'.trim());
      expect(text).toContain('npm install --global --omit=dev /tmp/triscope-*.tgz');
    }
  });

  it('the batch script is one that bash takes, with all options before its commands', () => {
    expect(spawnSync('bash', ['-n', SCRIPT]).status).toBe(0);
    const lines = example('job.sbatch').split('\n');
    const first = lines.findIndex((line) => line !== '' && !line.startsWith('#'));
    const options = lines.flatMap((line, k) => (line.startsWith('#SBATCH') ? [k] : []));
    expect(Math.max(...options)).toBeLessThan(first);
  });
});
