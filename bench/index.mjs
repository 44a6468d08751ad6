// The job index of an archive: a generator streams grammatical groups into the ingest, a day of all hosts at a time, as days
// come in; the files are removed once they are in the index, so nothing raw is kept. Then questions are asked. Says MB/s and hosts/s
// of the ingest by the clock and by CPU time, seconds of questions, and the most memory.
// A host's day is GROUPS groups with jobs of one and of four hosts, of LONG groups each; 10,000 nodes at 600 s are 17 groups a second.
// Usage: node bench/index.mjs [hosts] [days] [cpus] [groups] [long]
//   100 3 16        the speed of the ingest: samples of each 600 s
//   1000 30 2 24 8  the questions: as many files, jobs and days as count, with an hour between samples
//   1000 30 2 144 48  the same jobs, of samples of each 600 s
// KEEP=FOLDER leaves the archive there, with its index and empty files; ASK=FOLDER (and the same numbers) only asks such a one.
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive, openJobs, updateIndex } from '../dist/findings/job/index.js';
import { writeKept } from '../dist/query/kept-file.js';

const HOSTS = Number(process.argv[2] ?? 100);
const DAYS = Number(process.argv[3] ?? 3);
/** Seconds of ingest after which no other day begins. */
const LIMIT = Number(process.env.LIMIT ?? Number.POSITIVE_INFINITY);
const CPUS = Number(process.argv[4] ?? 16);
const START = 1772323200;
const DAY = 86_400;
const GROUPS = Number(process.argv[5] ?? 144);
/** Groups of a job. */
const LONG = Number(process.argv[6] ?? 12);
/** Seconds between groups. */
const STEP = DAY / GROUPS;

const SCHEMAS = [
  '!cpu user,E,U=cs nice,E,U=cs system,E,U=cs idle,E,U=cs iowait,E,U=cs irq,E,U=cs softirq,E,U=cs',
  '!mem MemTotal,U=KB MemFree,U=KB MemUsed,U=KB FilePages,U=KB AnonPages,U=KB Slab,U=KB',
  '!net rx_bytes,E,U=B rx_packets,E tx_bytes,E,U=B tx_packets,E',
  '!intel_snb CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48 FIXED_CTR0,E,W=48 FIXED_CTR1,E,W=48 FIXED_CTR2,E,W=48',
  '!lnet tx_msgs,E rx_msgs,E rx_msgs_dropped,E tx_bytes,E,U=B rx_bytes,E,U=B rx_bytes_dropped,E',
];
const nameOf = (host) => `c${String(host).padStart(4, '0')}`;

/** A host's day, as text. */
function dayOf(host, day) {
  const lines = [
    '$tacc_stats 2.3.5',
    `$hostname ${nameOf(host)}`,
    '$uname Linux',
    '$uptime 9999999',
    ...SCHEMAS,
  ];
  for (let k = 0; k < GROUPS; k++) {
    const n = day * GROUPS + k;
    const slot = Math.floor(n / LONG);
    // Each third job is of four hosts.
    const job = slot % 3 === 2 ? `${slot}_4${host >> 2}` : `${slot}_1${host}`;
    const at = n % LONG;
    lines.push('', `${START + n * STEP}.${100000 + host} ${job} ${nameOf(host)}`);
    if (at === 0) lines.push(`%begin ${job}`);
    if (at === LONG - 1) lines.push(`%end ${job}`);
    for (let cpu = 0; cpu < CPUS; cpu++) {
      const used = n * 600 * (40 + ((host + slot) % 50));
      lines.push(`cpu ${cpu} ${used} 0 ${n * 300} ${n * 20_000} 0 0 ${n}`);
      lines.push(
        `intel_snb ${cpu} 4391376 4391377 ${n * 7_654_321} ${n * 1_234_567} ${n * 900_000_000} ${n * 1_200_000_000} ${n * 1_100_000_000}`,
      );
    }
    lines.push(`mem 0 33554432 ${1_000_000 + slot} ${2_000_000 + slot * 100} 5000 9000 100`);
    lines.push(`net eth0 ${n * 55_555} ${n * 99} ${n * 44_444} ${n * 88}`);
    lines.push(`lnet - ${n * 10} ${n * 11} 0 ${n * 123_456} ${n * 654_321} 0`);
  }
  return `${lines.join('\n')}\n`;
}

/** What sacct would say of the jobs. */
function accountedOf(days) {
  const jobs = [];
  for (let slot = 0; slot < (days * GROUPS) / LONG; slot++) {
    for (let host = 0; host < HOSTS; host += slot % 3 === 2 ? 4 : 1) {
      const id = slot % 3 === 2 ? `${slot}_4${host >> 2}` : `${slot}_1${host}`;
      const started = START + slot * LONG * STEP;
      jobs.push({
        ...{ id, user: `u${(slot + host) % 200}`, account: `a${host % 20}`, queue: 'normal' },
        ...{ name: 'run', state: 'COMPLETED', submitted: started, started },
        ...{ ended: started + (LONG - 1) * STEP, nodes: 1, cores: CPUS, timeLimit: 86400 },
        ...{ hosts: null, place: '' },
      });
    }
  }
  return jobs;
}

const { ASK, KEEP } = process.env;
if (KEEP !== undefined) mkdirSync(KEEP, { recursive: true });
const folder = ASK ?? KEEP ?? mkdtempSync(join(tmpdir(), 'bench-index-'));
let most = 0;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 50);
const secondsSince = (started) => ((performance.now() - started) / 1000).toFixed(2);

/** Fills the index, a day at a time. */
async function ingest() {
  let bytes = 0;
  let seconds = 0;
  let busy = 0;
  let jobs = 0;
  let days = 0;
  for (let day = 0; day < DAYS && seconds < LIMIT; day++) {
    days = day + 1;
    for (let host = 0; host < HOSTS; host++) {
      const own = join(folder, nameOf(host));
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, String(START + day * DAY)), dayOf(host, day));
    }
    const started = performance.now();
    const before = process.cpuUsage();
    const result = await updateIndex(openArchive(folder), { keep: true });
    seconds += (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(before);
    busy += (user + system) / 1e6;
    bytes += result.bytes;
    jobs = result.jobs;
    for (let host = 0; host < HOSTS; host++) {
      rmSync(join(folder, nameOf(host), String(START + day * DAY)));
    }
    if (day % 5 === 4)
      console.log(
        `day ${day + 1}: ${jobs} jobs, ${busy.toFixed(0)} s of CPU, ${(most / 1e6).toFixed(0)} MB`,
      );
  }
  const size = statSync(join(folder, '.jobs.duckdb')).size;
  console.log(
    `${HOSTS} hosts × ${days} days of ${GROUPS} groups, ${CPUS} CPUs: ${(bytes / 1e6).toFixed(0)} MB, ${jobs} jobs, index ${(size / 1e6).toFixed(1)} MB`,
  );
  const speed = (what, time) =>
    console.log(
      `ingest by ${what}: ${(bytes / 1e6 / time).toFixed(1)} MB/s, ${((HOSTS * days) / time).toFixed(1)} hosts' days/s, ${((HOSTS * days * GROUPS) / time).toFixed(0)} groups/s (10,000 nodes at 600 s: 17)`,
    );
  speed('the clock', seconds);
  speed('CPU time', busy);
  writeFileSync(join(folder, nameOf(0), String(START + DAYS * DAY)), '');
  const started = performance.now();
  await updateIndex(openArchive(folder), { accounted: accountedOf(days) });
  console.log(`accounting of ${jobs} jobs ${secondsSince(started)} s`);
}

/** Empty files in the place of those that were read, which the index takes for them: a question compares them all. */
async function pretendFiles() {
  const rows = [];
  for (let host = 0; host < HOSTS; host++) {
    for (let day = 0; day < DAYS; day++) {
      const path = `${nameOf(host)}/${START + day * DAY}`;
      writeFileSync(join(folder, path), '');
      const { ino, mtimeNs } = statSync(join(folder, path), { bigint: true });
      rows.push([path, mtimeNs, ino]);
    }
  }
  const BIGINT = 'BIGINT';
  const columns = [
    { name: 'path', type: 'VARCHAR' },
    { name: 'mtime', type: BIGINT },
    { name: 'inode', type: BIGINT },
  ];
  const table = { name: '_pretended', columns };
  await writeKept(join(folder, '.jobs.duckdb'), {}, async (draft) => {
    await draft.create(table);
    await draft.append(table, rows);
    await draft.run(
      'UPDATE _files SET gone = false, size = 0, mtime = p.mtime, inode = p.inode FROM _pretended p WHERE p.path = _files.path',
      'DROP TABLE _pretended',
    );
  });
}

async function ask(what, question) {
  const started = performance.now();
  const { jobs: kept } = await openJobs(openArchive(folder), null);
  const found = await question(kept);
  kept.close();
  const rows = Array.isArray(found) ? `, ${found.length} rows` : '';
  console.log(`${what.padEnd(24)} ${secondsSince(started)} s${rows}`);
}

async function questions() {
  await ask('by user', (kept) => kept.by('user'));
  await ask('by day', (kept) => kept.by('day'));
  await ask('a condition', (kept) =>
    kept.rows({ where: 'avg_cpuusage > 14 AND hosts = 4 AND first < 1772330000' }),
  );
  await ask('a user’s day', (kept) =>
    kept.rows({ where: `first >= ${START + DAY} AND first < ${START + 1.05 * DAY}` }),
  );
  await ask('the latest 500', (kept) => kept.rows({ most: 500 }));
  await ask('words', (kept) => kept.rows({ words: ['u17'], most: 500 }));
  await ask('a host’s jobs', (kept) => kept.rows({ hosts: ['c0007'] }));
  await ask('a job’s files', (kept) => kept.filesOf('0_10'));
}

try {
  if (ASK === undefined) {
    await ingest();
    await pretendFiles();
  }
  await questions();
  const listing = performance.now();
  const { files } = openArchive(folder);
  console.log(`list of its files        ${secondsSince(listing)} s, ${files.length} files`);
  console.log(
    `memory   ${(Math.max(most, process.memoryUsage.rss()) / 1e6).toFixed(0)} MB at most`,
  );
} finally {
  clearInterval(watch);
  if (ASK === undefined && KEEP === undefined) rmSync(folder, { recursive: true });
}
