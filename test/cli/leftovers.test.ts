/** What killed commands left in the folder of temporary files goes with the next command of the kind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { programFolder } from './support/region.ts';
import { BIN, temporaryFolder, triscope } from './support/run.ts';

const SCRATCH = new URL('../../dist/os/scratch.js', import.meta.url).href;

/** Starts it with a folder of temporary files of its own, and waits for what it prints. */
async function started(
  args: readonly string[],
  tmp: string,
  cwd = tmp,
): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, TMPDIR: tmp } });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  await until(() => out.includes('\n'));
  return [child, out.trim()];
}

/** Once it is gone, and nobody waits for it. */
async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

const names = (tmp: string) => readdirSync(tmp).filter((name) => name.startsWith('triscope-'));

describe.skipIf(process.platform !== 'linux').concurrent('what a killed', () => {
  it('region launch left stays while its program marks there, then goes', async () => {
    const tmp = temporaryFolder();
    const program = programFolder(
      "region('a').run(() => sleep(1)); console.log(process.pid); setInterval(() => {}, 1000);",
    );
    const words = [BIN, 'region', 'launch', '--', process.execPath, 'app.mjs'];
    const [child, pid] = await started(words, tmp, program);
    await kill(child);
    const [left] = names(tmp);
    expect(left).toMatch(/^triscope-region-/);
    const next = () =>
      triscope(['region', 'launch', '--', 'true'], { cwd: tmp, env: { TMPDIR: tmp } });
    expect((await next()).code).toBe(0);
    expect(names(tmp)).toEqual([left]);
    process.kill(Number(pid), 'SIGKILL');
    // In a container without an init nobody may wait for it.
    const stat = `/proc/${pid}/stat`;
    await until(() => !existsSync(stat) || readFileSync(stat, 'latin1').includes(') Z '));
    expect((await next()).code).toBe(0);
    expect(names(tmp)).toEqual([]);
  });

  it('export left goes, and what has an owner does not', async () => {
    const tmp = temporaryFolder();
    const text = `import { scratchFolder } from ${JSON.stringify(SCRATCH)};
      console.log(scratchFolder('triscope-export-').path);
      setInterval(() => {}, 1000);`;
    const owner = () => started(['--input-type=module', '-e', text], tmp);
    const [[dead, deadPath], [alive, alivePath]] = await Promise.all([owner(), owner()]);
    const empty = ['old', 'new'].map((name) => join(tmp, `triscope-export-${name}`));
    for (const path of empty) mkdirSync(path);
    // Its process was killed before it could lock it.
    utimesSync(empty[0], 1e9, 1e9);
    await kill(dead);
    execFileSync(process.execPath, [BIN, 'sim', 'run', 'phold', '--end=1', '--record=a'], {
      cwd: tmp,
    });
    const words = ['export', 'a.tri', '--to', 'csv', '--table', 'pes', '-o', '-'];
    const { code } = await triscope(words, { cwd: tmp, env: { TMPDIR: tmp } });
    expect(code).toBe(0);
    const there = [deadPath, alivePath, ...empty].map((path) => existsSync(path));
    expect(there).toEqual([false, true, false, true]);
    await kill(alive);
  });
});
