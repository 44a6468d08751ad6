/** `srun triscope record -- ./app`: tasks on several hosts that see one folder, as processes with what Slurm tells them. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordedTask } from '../../src/cli/recorded-task.ts';
import { openRecording } from '../../src/query/index.ts';
import { BIN, temporaryFolder, triscope } from './support/run.ts';

const HOST = ['--uts', '--pid', '--fork', '--mount-proc'];
const HAS_HOSTS = spawnSync('unshare', [...HOST, 'true']).status === 0;

const slurm = (task: number, perNode = 2) => ({
  ...{ SLURM_JOB_ID: '4711', SLURM_STEP_ID: '0', SLURM_STEP_NUM_TASKS: `${2 * perNode}` },
  SLURM_STEP_TASKS_PER_NODE: `${perNode}(x2)`,
  SLURM_NODEID: `${Math.floor(task / perNode)}`,
  ...{ SLURM_PROCID: `${task}`, SLURM_LOCALID: `${task % perNode}` },
});

it('a task is told by the environment of a step, not by that of a batch script', () => {
  const known = { rank: 3, size: 4, localRank: 1, local: 2, job: '4711.0' };
  expect(recordedTask(slurm(3))).toEqual(known);
  expect(recordedTask({ ...slurm(3), SLURM_STEP_TASKS_PER_NODE: '3,1' })?.local).toBe(1);
  const { SLURM_STEP_ID: _, ...batch } = slurm(0);
  expect(recordedTask(batch)).toBeNull();
  expect(recordedTask({ ...slurm(0), SLURM_STEP_NUM_TASKS: '1' })).toBeNull();
  expect(recordedTask({ ...slurm(0), SLURM_JOB_ID: '../..' })).toBeNull();
  const openMpi = { OMPI_COMM_WORLD_RANK: '1', OMPI_COMM_WORLD_SIZE: '2' };
  expect(recordedTask({ ...openMpi, OMPI_COMM_WORLD_LOCAL_RANK: '1' })?.size).toBe(2);
});

it('where a host’s first task cannot write, its others run nothing and do not wait', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'file'), '');
  const env = (task: number) => ({ ...slurm(task), SLURM_STEP_NUM_TASKS: '2', TMPDIR: cwd });
  const words = ['record', '--no-node', '-o', 'file/run', '--', 'echo', 'ran'];
  const both = await Promise.all([0, 1].map((task) => triscope(words, { cwd, env: env(task) })));
  expect(both.map(({ code, out }) => [code, out])).toEqual([
    [1, ''],
    [1, ''],
  ]);
  expect(both[1].err).toBe('triscope: the first task on this host cannot record: nothing is run\n');
  expect(readdirSync(cwd)).toEqual(['file']);
});

it.skipIf(!HAS_HOSTS)(
  `each host writes its own folder, in one recording that is joined when it is opened${HAS_HOSTS ? '' : ' (needs root with namespaces)'}`,
  async () => {
    const cwd = temporaryFolder();
    const program = (task: number) => ['sh', '-c', `sleep 1; exit ${task}`];
    const host = (node: number) => {
      const record = `"${process.execPath}" "${BIN}" record --every=0.2 -o job --`;
      const tasks = [2 * node, 2 * node + 1].map((task) => {
        const env = Object.entries(slurm(task)).map(([name, value]) => `'${name}=${value}'`);
        const words = program(task).map((word) => `'${word}'`);
        return `{ env ${env.join(' ')} ${record} ${words.join(' ')}; echo ${task} $?; } &`;
      });
      const script = `hostname n${node}; ${tasks.join(' ')} wait`;
      const child = spawn('unshare', [...HOST, 'sh', '-c', script], { cwd });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (data) => {
          said += data;
        });
      }
      return new Promise<string>((resolve) => child.on('close', () => resolve(said)));
    };
    const said = (await Promise.all([host(0), host(1)])).join('');
    const codes = said.split('\n').filter((line) => /^\d \d$/.test(line));
    expect(codes.sort()).toEqual(['0 0', '1 1', '2 2', '3 3']);
    expect(said.match(/next: triscope report .*/g)).toEqual(['next: triscope report job.tri']);
    const folder = join(cwd, 'job.tri');
    expect(readdirSync(folder).sort()).toEqual(['n0', 'n1']);
    const recording = await openRecording(folder);
    const [tasks, nodes, regions, told] = [
      await recording.query(
        "SELECT host, count(*) AS tasks FROM (SELECT host, process_id, string_agg(command, ';') AS was FROM process_info GROUP BY ALL) WHERE was LIKE '%sh -c sleep%' AND was NOT LIKE '%;sleep 1%' GROUP BY host ORDER BY host",
      ),
      await recording.query('SELECT DISTINCT host FROM node_cpu ORDER BY host'),
      await recording.query(
        "SELECT host FROM geopm_region WHERE section = 'application' ORDER BY host",
      ),
      await recording.query('SELECT state, error FROM recording'),
    ];
    const { suspects } = recording;
    await recording.close();
    expect(tasks).toEqual([0, 1].map((node) => ({ host: `n${node}`, tasks: 2 })));
    expect([nodes, regions]).toEqual([
      [{ host: 'n0' }, { host: 'n1' }],
      [{ host: 'n0' }, { host: 'n1' }],
    ]);
    expect(told).toEqual([{ state: 'failed', error: 'n1: the command ended with code 2' }]);
    expect(suspects).toMatchObject([{ what: 'its run failed: n1: the command ended with code 2' }]);
    // A host that was killed: the other is there, and what is lost is told.
    const file = join(folder, 'n1', 'recording.json');
    const { ended: _, ...running } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...running, state: 'running' }));
    const info = await triscope(['info', '--json', folder]);
    const { path, recording: joined } = JSON.parse(info.out).recordings[0];
    expect([path, joined.state, joined.ended]).toEqual([folder, 'running', undefined]);
    // Another job's folder is not written into.
    const env = slurm(0);
    const other = { ...env, SLURM_JOB_ID: '4712' };
    const refused = await triscope(['record', '-o', 'job', '--', 'touch', 'ran'], {
      cwd,
      env: other,
    });
    expect([refused.code, refused.err]).toEqual([
      1,
      'triscope: -o: job.tri belongs to job 4711.0; remove it or give another name\n',
    ]);
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  },
);
