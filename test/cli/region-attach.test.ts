/** `triscope region attach`: programs that were started elsewhere, before the controller or after it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { addsUp, HOST, programFolder, readReport } from './support/region.ts';
import { triscope } from './support/run.ts';

const OPTIONS = ['--geopm-period=0.02', '--synthetic', '--geopm-trace=trace'];

/** Says when it is ready; ends after a file `go` is there. */
const PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs';
const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const outer = region('outer', 'compute');
for (let k = 0; k < 5; k++) epoch();
region('early').run(() => sleep(20));
outer.enter();
console.log('ready');
until(() => existsSync('go'));
const woken = seconds();
for (let k = 0; k < 3; k++) { epoch(); sleep(30); }
outer.exit();
region('late', 'io').run(() => sleep(50));
region('late').run(() => sleep(50));
writeFileSync('own', String(seconds() - woken));
`;

function start(folder: string) {
  const env = { ...process.env, TRISCOPE_REGION_DIR: join(folder, 'pages') };
  return spawn(process.execPath, ['app.mjs'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

describe('attaching', () => {
  it('to a process that runs: totals begin when sampling does', async () => {
    const cwd = programFolder(PROGRAM);
    const program = start(cwd);
    await once(program.stdout, 'data');
    const attached = triscope(['region', 'attach', ...OPTIONS, String(program.pid)], { cwd });
    while (sizeOf(join(cwd, `trace-${HOST}`)) < 2000) await sleep(20);
    writeFileSync(join(cwd, 'go'), '');
    const { code, err } = await attached;
    expect([code, err]).toEqual([0, '']);
    const { host } = readReport(join(cwd, 'geopm.report'));
    const counts = host.Regions?.map(({ region, count }) => `${region} ${count}`);
    expect(counts?.toSorted()).toEqual(['late 2', 'outer 1']);
    expect(host['Epoch Totals']?.count).toBe(3);
    expect(host.Triscope.complete).toBe(true);
    expect(host.Triscope.processes).toHaveLength(1);
    expect(JSON.stringify(host.Triscope.regions)).not.toContain('early');
    // The program's own time since it was let go is a part of what was sampled.
    const own = Number(readFileSync(join(cwd, 'own'), 'utf8'));
    expect(host['Application Totals']['runtime (s)']).toBeGreaterThan(own);
    addsUp({ host });
  });

  it('before a program begins: it ends when all that came have ended', async () => {
    const cwd = programFolder("region('work').run(() => sleep(100));");
    const { code, err } = await triscope(['region', 'attach', ...OPTIONS, '--pages=pages'], {
      cwd,
      meanwhile: (child) => child.stderr?.once('data', () => start(cwd)),
    });
    expect([code, err]).toEqual([
      0,
      `triscope: waiting for programs that are started with TRISCOPE_REGION_DIR=${join(cwd, 'pages')}\n`,
    ]);
    const { host } = readReport(join(cwd, 'geopm.report'));
    expect(host.Regions?.map(({ region, count }) => [region, count])).toEqual([['work', 1]]);
    addsUp({ host });
  });

  it('is refused where a process marks nowhere, is none, or is not there', async () => {
    const refused = async (...words: string[]) => {
      const { code, err } = await triscope(['region', 'attach', ...words]);
      expect(code).toBe(2);
      return err;
    };
    expect(await refused(String(process.pid))).toContain(
      'start it with TRISCOPE_REGION_DIR=FOLDER',
    );
    expect(await refused('app')).toContain('app: is not a process id');
    expect(await refused('4194304')).toContain('no such process');
    expect(await refused('--pages=/dev/null')).toBe(
      'triscope: /dev/null: cannot be used as the folder of pages: it is a file\n',
    );
    expect(await refused('--pages=/proc/pages')).toContain(
      '/proc/pages: cannot be used as the folder',
    );
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is refused to root where a process is of another user',
    async () => {
      const folder = join(programFolder(''), 'pages');
      const env = { ...process.env, TRISCOPE_REGION_DIR: folder };
      const other = spawn('sleep', ['60'], { uid: 65534, cwd: '/', env, stdio: 'ignore' });
      await once(other, 'spawn');
      const { code, err } = await triscope(['region', 'attach', String(other.pid)]);
      other.kill();
      expect([code, err, existsSync(folder)]).toEqual([
        2,
        `triscope: ${other.pid}: it belongs to user 65534: run this command as that user\n`,
        false,
      ]);
    },
  );
});
