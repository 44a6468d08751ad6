/** What writes: how each is started in a folder, and what must hold of the folder whatever happened. */
import type { ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesSource } from 'triscope/formats';
import { checkRecording, RECORDING_FILE } from '../../src/model/recording.ts';
import { triscopeHere } from '../cli/support/run.ts';
import { readRecords } from '../fuzz/reading.ts';
import { ROOT, run } from './run-command.ts';

/** How a run ended: null: by SIGKILL. */
export type Ending = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export interface Target {
  readonly name: string;
  /** Fills a new folder with what the command needs. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly args: (folder: string) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  /** It does not end by itself, and writes nothing: ms within which it is ended. */
  readonly endless?: number;
  /** What is done while it runs: it ends then, by itself or as this ends it. */
  readonly meanwhile?: (folder: string, child: ChildProcess) => Promise<void>;
  /** @throws Error that says what of the folder does not hold */
  readonly check: (folder: string, ending: Ending) => Promise<void>;
}

class Broken extends Error {}
export const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Broken(what);
};

const SIMULATION =
  'sim run phold --pes=2 --total-lps=64 --lookahead=0.1 --end=50 --engine-stats=gvt --granularity=1 --event-trace=committed'.split(
    ' ',
  );
const EVENTS = 'stats-output/ross-stats-evtrace.bin';
export const SQL = 'SELECT count(*) AS n, sum(destination_lp) AS s FROM ross_event';

/** Records of a file that is there: those before a cut end. */
function recordsOf(path: string): { records: readonly string[]; whole: boolean } {
  const bytes = readFileSync(path);
  const { records, fault, damages } = readRecords(bytesSource(path, bytes), true);
  return { records, whole: fault === null && damages.length === 0 };
}

/** Sorted, without their real times, which no two runs share. */
const withoutReal = (records: readonly string[]): string[] =>
  records.map((text) => text.replace(/real_time=\S+/, '')).sort();

const filesUnder = (folder: string): string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        .sort();

/** A recording, a log and a query's answer, made without faults. */
let prepared: ReturnType<typeof prepare> | null = null;

/** What the page of jobs has of an archive. */
async function jobsOf(archive: string): Promise<string> {
  const { code, out, err } = await triscopeHere(['node', 'jobs', '--archive', archive, '--json']);
  must(code === 0, `node jobs: code ${code}: ${err}`);
  return out;
}

async function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-whole-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const recording = join(folder, 'whole');
  const ran = await run([...SIMULATION, `--record=${recording}`]);
  must(ran.code === 0, `the simulation failed: ${ran.stderr}`);
  for (const step of ['begin', 'end']) {
    const { code, stderr } = await run(['node', step, '4001', '--dir', join(folder, 'log')]);
    must(code === 0, `node ${step} failed: ${stderr}`);
  }
  const { stdout } = await run(['query', `${recording}.tri`, SQL, '--json']);
  const { records } = recordsOf(join(`${recording}.tri`, EVENTS));
  const filed = join(folder, 'archive');
  cpSync(join(folder, 'log'), join(folder, 'to-file'), { recursive: true });
  const words = ['--dir', join(folder, 'to-file'), '--archive', filed, '--age', '0'];
  const { code } = await run(['node', 'archive', ...words]);
  must(code === 0, 'node archive failed');
  return { folder, answer: stdout, events: withoutReal(records), jobs: await jobsOf(filed) };
}

/** Made once in a process. */
export const whole = () => {
  prepared ??= prepare();
  return prepared;
};

export const copied = async (folder: string): Promise<void> => {
  cpSync(join((await whole()).folder, 'whole.tri'), join(folder, 'run.tri'), { recursive: true });
};

const simulate: Target = {
  name: 'simulate --record',
  args: (folder) => [...SIMULATION, `--record=${join(folder, 'run')}`],
  async check(folder, { code }) {
    const place = join(folder, 'run.tri');
    const file = join(place, RECORDING_FILE);
    if (!existsSync(file)) {
      must(code !== 0, 'it ended well and left no recording.json');
      return;
    }
    const { state } = checkRecording(JSON.parse(readFileSync(file, 'utf8')));
    // A killed one may have come to its end just before.
    if (code !== null) {
      must(
        (state === 'finished') === (code === 0),
        `code ${code}, and recording.json says ${state}`,
      );
    }
    const { events } = await whole();
    const path = join(place, EVENTS);
    const found = existsSync(path) ? recordsOf(path).records : [];
    if (state === 'finished') must(withoutReal(found).join() === events.join(), 'other events');
    must(found.length <= events.length, `${found.length} events of ${events.length}`);
    const info = await triscopeHere(['info', place, '--json']);
    must(info.code === 0 || found.length === 0, `info: code ${info.code}: ${info.err}`);
    if (code !== 0 && info.code === 0) {
      must(/running|failed|interrupted/.test(info.out), 'info does not say how it ended');
    }
  },
};

const launch: Target = {
  name: 'region launch',
  args: (folder) => [
    ...['region', 'launch', `--geopm-report=${join(folder, 'app.report')}`, '--geopm-period=0.005'],
    `--geopm-trace=${join(folder, 'app.trace')}`,
    `--geopm-trace-profile=${join(folder, 'app.profile')}`,
    ...['--', process.execPath, join(ROOT, 'examples', 'region-app.mjs')],
  ],
  async check(folder, { code, stderr }) {
    const report = join(folder, 'app.report');
    const there = existsSync(report) && readFileSync(report).length > 0;
    if (code === 0) must(there && recordsOf(report).whole, 'it ended well without a whole report');
    for (const path of filesUnder(folder)) {
      // An empty file, or a name of its own for what is being written, is no table yet.
      if (!/app\.(trace|profile)-/.test(path) || readFileSync(path).length === 0) continue;
      const { records, whole: isWhole } = recordsOf(path);
      // The code is the program's: of a trace that could not be written on, a warning tells.
      const isTold = stderr.includes(`${path} cannot be written`);
      if (code === 0) must((isWhole && records.length > 0) || isTold, `${path} is not whole`);
    }
  },
};

const SAMPLES = 4;
const daemon: Target = {
  name: 'node daemon',
  args: (folder) => [
    ...[
      'node',
      'daemon',
      '--dir',
      join(folder, 'log'),
      '--freq',
      '0.1',
      '--raw-version',
      '2',
      '--count',
      `${SAMPLES}`,
    ],
    ...['--type.cpu', '--type.mem', '--jobid-file', join(folder, 'none')],
  ],
  async check(folder, { code }) {
    const files = filesUnder(join(folder, 'log')).filter((path) => /\/\d+$/.test(path));
    const records = files.flatMap((path) => recordsOf(path).records);
    must(new Set(records).size === records.length, 'a record is there twice');
    const times = new Set(records.map((text) => /time=([\d.]+)/.exec(text)?.[1]));
    // One more at the daemon's end.
    if (code === 0) must(times.size >= SAMPLES, `${times.size} samples of ${SAMPLES}, and code 0`);
  },
};

const archive: Target = {
  name: 'node archive',
  async prepare(folder) {
    cpSync(join((await whole()).folder, 'log'), join(folder, 'log'), { recursive: true });
  },
  args: (folder) => [
    ...['node', 'archive', '--dir', join(folder, 'log'), '--archive', join(folder, 'archive')],
    ...['--age', '0'],
  ],
  async check(folder, { code }) {
    const raw = (path: string) => /\/\d+(\.gz)?$/.test(path);
    const expected = filesUnder(join((await whole()).folder, 'log')).filter(raw);
    const kept = filesUnder(join(folder, 'log')).filter(raw);
    const moved = filesUnder(join(folder, 'archive')).filter(raw);
    const want = expected.flatMap((path) => recordsOf(path).records).length;
    for (const path of moved) {
      const { records, whole: isWhole } = recordsOf(path);
      must(
        isWhole && records.length === want,
        `${path} is not whole: ${records.length} of ${want}`,
      );
    }
    must(kept.length + moved.length > 0, 'the samples are gone');
    if (code === 0) must(moved.length === expected.length, 'it ended well and moved nothing');
    // Again, without a fault: once and only once there.
    const again = await run(archive.args(folder));
    must(again.code === 0, `again: code ${again.code}: ${again.stderr}`);
    const all = [...filesUnder(join(folder, 'log')), ...filesUnder(join(folder, 'archive'))];
    const count = all.filter(raw).flatMap((path) => recordsOf(path).records).length;
    must(count === want, `${count} records where there were ${want}`);
  },
};

const jobs: Target = {
  name: 'node begin (log and job list)',
  args: (folder) => ['node', 'begin', '77', '--dir', join(folder, 'log')],
  async check(folder) {
    // What follows still works, and the log is one that can be read.
    const end = await run(['node', 'end', '77', '--dir', join(folder, 'log')]);
    must(end.code === 0, `node end: code ${end.code}: ${end.stderr}`);
    const files = filesUnder(join(folder, 'log')).filter((path) => /\/\d+$/.test(path));
    const records = files.flatMap((path) => recordsOf(path).records);
    must(records.length > 0, 'the sample of the end is not there');
    must(new Set(records).size === records.length, 'a record is there twice');
  },
};

const cache: Target = {
  name: 'query --cache',
  prepare: copied,
  args: (folder) => ['query', join(folder, 'run.tri'), SQL, '--json', '--cache'],
  env: (folder) => ({ XDG_CACHE_HOME: join(folder, 'cache') }),
  async check(folder, { code, stdout }) {
    const { answer } = await whole();
    if (code === 0) must(stdout === answer, `another answer: ${stdout}`);
    const again = await run(cache.args(folder), { env: cache.env?.(folder) ?? {} });
    must(again.code === 0, `again: code ${again.code}: ${again.stderr}`);
    must(again.stdout === answer, `another answer the second time: ${again.stdout}`);
  },
};

const exported = (to: string): Target => ({
  name: `export --to ${to}`,
  async prepare(folder) {
    await copied(folder);
    mkdirSync(join(folder, 'out'));
  },
  args: (folder) => [
    ...['export', join(folder, 'run.tri'), '--to', to, '-o', join(folder, 'out', 'all')],
    ...(to === 'trace-event' ? [] : ['--table', 'ross_event']),
  ],
  async check(folder, { code }) {
    const files = filesUnder(join(folder, 'out'));
    if (code === 0) must(files.length === 1, `it ended well and left ${files.length} files`);
    const out = join(folder, 'out', 'all');
    // A killed one may leave what it was writing, under another name.
    const others = files.filter((path) => path !== out);
    if (code !== null) must(others.length === 0, `it left ${others.join(', ')}`);
    // Where the folder could not be synced, the output is there, and may not outlive a power failure.
    if (!existsSync(out)) return;
    const again = exported(to)
      .args(folder)
      .map((arg) => (arg === out ? `${out}.again` : arg));
    const ran = await run(again);
    must(ran.code === 0, `again: code ${ran.code}: ${ran.stderr}`);
    must(readFileSync(out).equals(readFileSync(`${out}.again`)), 'its output is not whole');
  },
});

const report: Target = {
  name: 'report',
  async prepare(folder) {
    await copied(folder);
    mkdirSync(join(folder, 'out'));
  },
  args: (folder) => ['report', join(folder, 'run.tri'), '--html', join(folder, 'out', 'a.html')],
  async check(folder, { code }) {
    const page = join(folder, 'out', 'a.html');
    const there = existsSync(page);
    if (code === 0) must(there, 'it ended well and left no page');
    if (there) must(readFileSync(page, 'utf8').trimEnd().endsWith('</html>'), 'a page is cut');
    const others = filesUnder(join(folder, 'out')).filter((path) => path !== page);
    if (code !== null) must(others.length === 0, `it left ${others.join(', ')}`);
  },
};

const index: Target = {
  name: 'node index',
  async prepare(folder) {
    cpSync(join((await whole()).folder, 'archive'), join(folder, 'archive'), { recursive: true });
  },
  args: (folder) => ['node', 'index', '--archive', join(folder, 'archive')],
  async check(folder) {
    // Whatever is there of the index: what it does not have yet is read from the files.
    const again = await run(index.args(folder));
    must(again.code === 0, `again: code ${again.code}: ${again.stderr}`);
    const { jobs } = await whole();
    must((await jobsOf(join(folder, 'archive'))) === jobs, 'other jobs');
  },
};

const serve: Target = {
  name: 'serve',
  endless: 2000,
  prepare: copied,
  args: (folder) => ['serve', join(folder, 'run.tri'), '--port', '0'],
  async check(folder) {
    const original = join((await whole()).folder, 'whole.tri');
    const found = filesUnder(join(folder, 'run.tri'));
    must(found.length === filesUnder(original).length, 'other files than before');
    for (const path of found) {
      const before = readFileSync(path.replace(join(folder, 'run.tri'), original));
      must(readFileSync(path).equals(before), `${path} is not as it was`);
    }
  },
};

export const TARGETS: readonly Target[] = [
  simulate,
  launch,
  daemon,
  archive,
  jobs,
  cache,
  exported('parquet'),
  exported('csv'),
  exported('trace-event'),
  report,
  index,
  serve,
];
