// The job index of an archive: a day of all hosts at a time is written, indexed, and packed away, as days come in; then
// questions are asked. Says MB/s and hosts/s of the ingest, seconds of questions, and the most memory.
// A host's day is 144 groups with jobs of one and of four hosts; 10,000 nodes at 600 s are 17 groups a second.
// Usage: node bench/index.mjs [hosts] [days] [cpus]      1000 30 16 is the size that counts, on an idle machine
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive, openJobs, updateIndex } from '../dist/findings/job/index.js';

const HOSTS = Number(process.argv[2] ?? 100);
const DAYS = Number(process.argv[3] ?? 3);
const CPUS = Number(process.argv[4] ?? 16);
const START = 1772323200;
const DAY = 86_400;
const GROUPS = 144;
/** Groups of a job. */
const LONG = 12;

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
    const job = slot % 3 === 2 ? `${slot}4${host >> 2}` : `${slot}1${host}`;
    const at = n % LONG;
    lines.push('', `${START + n * 600}.${100000 + host} ${job} ${nameOf(host)}`);
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

const folder = mkdtempSync(join(tmpdir(), 'bench-index-'));
let most = 0;
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 50);
try {
  let bytes = 0;
  let seconds = 0;
  let jobs = 0;
  for (let day = 0; day < DAYS; day++) {
    for (let host = 0; host < HOSTS; host++) {
      const own = join(folder, nameOf(host));
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, String(START + day * DAY)), dayOf(host, day));
    }
    const started = performance.now();
    const result = await updateIndex(openArchive(folder));
    seconds += (performance.now() - started) / 1000;
    bytes += result.bytes;
    jobs = result.jobs;
  }
  const size = statSync(join(folder, '.jobs.duckdb')).size;
  console.log(
    `${HOSTS} hosts × ${DAYS} days of ${GROUPS} groups, ${CPUS} CPUs: ${(bytes / 1e6).toFixed(0)} MB, ${jobs} jobs, index ${(size / 1e6).toFixed(1)} MB`,
  );
  console.log(
    `ingest   ${(bytes / 1e6 / seconds).toFixed(1)} MB/s, ${((HOSTS * DAYS) / seconds).toFixed(1)} hosts' days/s, ${((HOSTS * DAYS * GROUPS) / seconds).toFixed(0)} groups/s (10,000 nodes at 600 s: 17)`,
  );
  const ask = async (what, question) => {
    const started = performance.now();
    const { jobs: kept } = await openJobs(openArchive(folder), null);
    await question(kept);
    kept.close();
    console.log(`${what.padEnd(24)} ${((performance.now() - started) / 1000).toFixed(2)} s`);
  };
  await ask('by user', (kept) => kept.by('user'));
  await ask('by day', (kept) => kept.by('day'));
  await ask('a condition', (kept) =>
    kept.rows({ where: 'avg_cpuusage > 14 AND hosts = 4 AND first < 1772330000' }),
  );
  await ask('a job’s files', (kept) => kept.filesOf('010'));
  console.log(
    `memory   ${(Math.max(most, process.memoryUsage.rss()) / 1e6).toFixed(0)} MB at most`,
  );
} finally {
  clearInterval(watch);
  rmSync(folder, { recursive: true });
}
