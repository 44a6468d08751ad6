// One run with its disturbance, recorded or not.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  cpuGroup,
  diskGroup,
  family,
  hog,
  inGroups,
  memoryGroup,
  sleep,
  slowDisk,
} from './around.mjs';
import { mpiEnvironment } from './build.mjs';
import { makeHosts } from './hosts.mjs';

let measured = 0;
const BIN = fileURLToPath(new URL('../../bin/triscope', import.meta.url));

const optionWords = (options) =>
  Object.entries(options)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));

/**
 * The words of a run; `recorded` is the path of its recording, or null. A program may be a function of the folder in which
 * it is built, and of the fraction of its work that is asked for.
 */
export function wordsOf(run, recorded, folder, groups = []) {
  const { command, options = {} } = run;
  // A program that is built gets the control groups itself: the recorder is outside.
  const { program = [] } =
    typeof run.program === 'function'
      ? { program: [...inGroups(groups), ...run.program(folder, run.part ?? 1)] }
      : run;
  if (program.length > 0)
    return recorded === null
      ? program
      : [
          process.execPath,
          BIN,
          'record',
          '-o',
          recorded,
          ...optionWords(options),
          '--',
          ...program,
        ];
  const record = recorded === null ? [] : [`--record=${recorded}`];
  // Recording is part of the measured time if recording is the cause.
  const samples = recorded === null && run.alwaysSampled !== true ? [] : run.recorded;
  return [
    process.execPath,
    BIN,
    ...command,
    '--json',
    ...optionWords(options),
    ...samples,
    ...record,
  ];
}

/** Hundredths of a second for which all CPUs were busy, and the part of it that belongs to this process or its children. */
function busyTicks() {
  const [line] = readFileSync('/proc/stat', 'latin1').split('\n');
  const [user, nice, system, , , irq, softirq, steal] = line
    .trim()
    .split(/ +/)
    .slice(1)
    .map(Number);
  const own = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  return {
    all: user + nice + system + irq + softirq + steal,
    own: own[11] + own[12] + own[13] + own[14],
  };
}

/** CPUs used by others: from this number on, the measurement is not of what was made. */
const NOISE = 0.3;

/**
 * Like `once`, repeated if others used the CPUs meanwhile.
 * @param recorded name of the recording; null for none
 * @param attempts 1: accept the run whatever others do
 * @throws Error if others used the CPUs in each attempt: findings of such runs are no evidence
 */
export async function execute(run, { recorded = null, folder, attempts = 3 }) {
  for (let k = 1; ; k++) {
    const path = recorded && `${recorded}-${k}.tri`;
    const before = busyTicks();
    const begun = performance.now();
    const done = await once(run, { recorded: path, folder });
    // Children are counted when they have been waited for.
    await sleep(0.02);
    const after = busyTicks();
    const seconds = (performance.now() - begun) / 1000;
    const others = (after.all - before.all - (after.own - before.own)) / 100 / seconds;
    if (others <= NOISE || attempts === 1) return { ...done, others, path };
    if (k >= attempts) throw new Error(`not measured: others used ${others.toFixed(2)} CPUs`);
  }
}

/**
 * Runs it. Resolves to its seconds, events per second, and when (s since 1970) the disturbance came and went.
 * @param folder where programs are built
 */
async function once(run, { recorded, folder }) {
  const groups = [];
  if (run.group !== undefined) groups.push(cpuGroup(run.group));
  if (run.memory !== undefined) groups.push(memoryGroup(run.memory));
  if (run.writes !== undefined) groups.push(diskGroup(run.writes, folder));
  const ends = [];
  const events = [];
  const hosts = run.delay === undefined ? null : await makeHosts(run.delay);
  try {
    const paths = groups.map(({ path }) => path);
    const words = [
      ...(typeof run.program === 'function' ? [] : inGroups(paths)),
      ...(run.cpus === undefined ? [] : ['taskset', '-c', run.cpus]),
      ...(hosts?.words ?? []),
      ...wordsOf(
        run,
        recorded === null && run.alwaysSampled === true
          ? `${folder}/measured-${measured++}`
          : recorded,
        folder,
        paths,
      ),
    ];
    const env = { ...process.env, ...(run.mpi && mpiEnvironment(folder)), ...run.env };
    if (run.disk !== undefined) {
      env.SLOW_DISK = `${run.disk}`;
      env.LD_PRELOAD = slowDisk(folder);
    }
    const begun = Date.now();
    const child = spawn(words[0], words.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    let over = false;
    const ended = new Promise((resolve) => child.on('close', resolve));
    void ended.then(() => {
      over = true;
    });
    const around = async ({ from = 0, to = null }, begin) => {
      await sleep(from);
      if (over) return;
      const end = begin();
      const at = Date.now() / 1000;
      ends.push(end);
      if (to !== null) {
        await sleep(to - from);
        end();
      }
      events.push({ from: at, to: Date.now() / 1000 });
    };
    const beside = [
      ...(run.hog === undefined ? [] : [around(run.hog, () => hog(run.hog.cpus, run.hog.count))]),
      ...(run.stop === undefined
        ? []
        : [
            around(run.stop, () =>
              stopped(child.pid, run.program === undefined || recorded === null),
            ),
          ]),
    ];
    const code = await ended;
    const seconds = (Date.now() - begun) / 1000;
    for (const end of ends) end();
    await Promise.all(beside);
    if (code !== 0) throw new Error(`${words.join(' ')}: ended with ${code}: ${err.slice(-400)}`);
    const result = run.program === undefined ? JSON.parse(out) : null;
    return {
      seconds: result?.wallSeconds ?? seconds,
      rate: result?.eventRate ?? 1 / seconds,
      result,
      events,
    };
  } finally {
    for (const end of ends) end();
    hosts?.remove();
    for (const group of groups) group.remove();
  }
}

/** Stops a process and those below it; returns a function that lets them go on. @param self false: all but the process itself */
function stopped(root, self) {
  const all = family(root).filter((id) => self || id !== root);
  const tell = (signal) => {
    for (const id of all) {
      try {
        process.kill(id, signal);
      } catch {
        // It has ended.
      }
    }
  };
  tell('SIGSTOP');
  return () => tell('SIGCONT');
}
