// Disturbances around a run: other work on its CPUs, a control group that limits it, a slow disk, a pause.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/** Starts `count` endless loops on `cpus`; returns a function that ends them. */
export function hog(cpus, count = 1, group = null) {
  const loops = Array.from({ length: count }, () =>
    spawn('taskset', ['-c', cpus, 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  if (group !== null)
    for (const { pid } of loops) writeFileSync(join(group, 'cgroup.procs'), `${pid}`);
  return () => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
}

const GROUPS = '/sys/fs/cgroup';
const version1 = existsSync(join(GROUPS, 'cpu', 'cpu.shares'));
let made = 0;

/** Why control groups cannot be made here; null if they can. */
export function lacksGroups() {
  try {
    cpuGroup({}).remove();
    memoryGroup(1e9).remove();
    return null;
  } catch ({ message }) {
    return `needs control groups: ${message}`;
  }
}

/** A control group of the CPU controller: `quota` in CPUs, `weight` as in version 2 (100 is the default). */
export function cpuGroup({ quota, weight }) {
  const path = join(GROUPS, version1 ? 'cpu' : '', `triscope-causes-${process.pid}-${made++}`);
  mkdirSync(path);
  const set = (file, value) => writeFileSync(join(path, file), `${value}`);
  if (quota !== undefined && version1) set('cpu.cfs_quota_us', Math.round(quota * 100_000));
  else if (quota !== undefined) set('cpu.max', `${Math.round(quota * 100_000)} 100000`);
  if (weight !== undefined)
    set(version1 ? 'cpu.shares' : 'cpu.weight', version1 ? Math.round(10.24 * weight) : weight);
  return { path, remove: () => remove(path) };
}

/** A control group whose processes may use `bytes` of memory, including the page cache. */
export function memoryGroup(bytes) {
  const path = join(GROUPS, version1 ? 'memory' : '', `triscope-causes-${process.pid}-${made++}`);
  mkdirSync(path);
  writeFileSync(join(path, version1 ? 'memory.limit_in_bytes' : 'memory.max'), `${bytes}`);
  return { path, remove: () => remove(path) };
}

/** A control group whose processes may write `bytes` per second to the device of `folder`, past the cache. */
export function diskGroup(bytes, folder) {
  const path = join(GROUPS, version1 ? 'blkio' : '', `triscope-causes-${process.pid}-${made++}`);
  mkdirSync(path);
  const { dev } = statSync(folder);
  const device = `${dev >> 8}:${dev & 0xff}`;
  if (version1) writeFileSync(join(path, 'blkio.throttle.write_bps_device'), `${device} ${bytes}`);
  else writeFileSync(join(path, 'io.max'), `${device} wbps=${bytes}`);
  return { path, remove: () => remove(path) };
}

function remove(path) {
  for (let k = 0; k < 200; k++) {
    try {
      rmdirSync(path);
      return;
    } catch {
      // A process that was killed has not ended yet.
      spawnSync('sleep', ['0.01']);
    }
  }
}

/** The words that run a command in control groups. */
export const inGroups = (paths) =>
  paths.length === 0
    ? []
    : [
        'sh',
        '-c',
        `${paths.map((path) => `echo $$ > ${join(path, 'cgroup.procs')}`).join('; ')}; exec "$0" "$@"`,
      ];

/** A library that makes writing a run's records slow; null if it cannot be built. */
export function slowDisk(folder) {
  const library = join(folder, 'slow-disk.so');
  const source = fileURLToPath(new URL('slow-disk.c', import.meta.url));
  if (existsSync(library)) return library;
  const { status } = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return status === 0 ? library : null;
}

/** Ids of a process and of those below it. */
export function family(root) {
  const found = [root];
  for (const id of found) {
    try {
      const text = readFileSync(`/proc/${id}/task/${id}/children`, 'latin1');
      found.push(...text.trim().split(' ').filter(Boolean).map(Number));
    } catch {
      // It has ended.
    }
  }
  return found;
}
