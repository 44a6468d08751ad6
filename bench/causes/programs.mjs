// Programs that are not simulations, slow for a reason that was made, and healthy ones: like causes.mjs, recorded by `triscope record`.
import { join } from 'node:path';
import { lacksGroups } from './around.mjs';
import { mpiProgram, plainProgram } from './build.mjs';

/** Milliseconds of computing, for the fraction that is asked for. */
const units = (all, part) => Math.max(1, Math.round(all * part));

/** program.c with the words that `words` returns for a fraction of its work and the folder. */
const plain = (words, more = {}) => ({
  program: (folder, part) => [plainProgram(folder), ...words(part, folder).map(String)],
  ...more,
});

/** The same on two ranks, each bound to its CPU. */
const ranks = (words, { count = 2, ...more } = {}) => ({
  mpi: true,
  program: (folder, part) => [
    ...['mpirun', '-np', `${count}`, ...(count > 2 ? ['--oversubscribe'] : ['--bind-to', 'core'])],
    ...[mpiProgram(folder), ...words(part).map(String)],
  ],
  ...more,
});

const without = (run, what) => ({ ...run, [what]: undefined });
const file = (folder) => join(folder, 'written');

export const PROGRAM_CAUSES = [
  {
    name: 'program: hog on one CPU for a known interval',
    draw: (d) => {
      const cpu = d.pick(0, 1);
      const all = d.whole(4500, 5500);
      const from = d.real(1.5, 2);
      const hog = { cpus: `${cpu}`, count: 2, from, to: from + d.real(2, 2.5) };
      const sick = plain((part) => ['work', 2, units(all, part), 'bound'], { hog });
      const says = new RegExp(`other threads and processes used .* CPU ${cpu}\\b`);
      const cured = without(sick, 'hog');
      return { sick, cured, rule: 'waiting-threads', says, interval: true };
    },
  },
  {
    name: 'program: quota of a control group',
    lacks: lacksGroups,
    draw: (d) => {
      const all = d.whole(2000, 2500);
      const group = { quota: d.real(0.6, 1.2) };
      const sick = plain((part) => ['work', 2, units(all, part)], { group });
      const says = /Control group .*triscope-causes.* may use/;
      return { sick, cured: without(sick, 'group'), rule: 'cpu-quota', says };
    },
  },
  {
    name: 'program: stopped for 2 s',
    draw: (d) => {
      const all = d.whole(3500, 4500);
      const from = d.real(1.2, 1.8);
      const sick = plain((part) => ['work', 2, units(all, part)], { stop: { from, to: from + 2 } });
      const says = /stood still/;
      return { sick, cured: without(sick, 'stop'), rule: 'pause', says, interval: true };
    },
  },
  {
    name: 'ranks: skewed work',
    draw: (d) => {
      const [each, more] = [d.whole(20, 40), d.whole(70, 150)];
      const run = (extra) => ranks((part) => ['steps', each, extra, units(2500 / each, part)]);
      const says = /wait for rank 1 .*CPU \d.*MPI_Allreduce: region solve/;
      // The same work, distributed evenly.
      const even = ranks((part) => [
        ...['steps', Math.round(each * (1 + more / 200)), 0, units(2500 / each, part)],
      ]);
      return { sick: run(more), cured: even, rule: 'rank-imbalance', says };
    },
  },
  {
    name: 'ranks: one that is late',
    draw: (d) => {
      const [rank, each] = [d.pick(0, 1), d.whole(20, 40)];
      const hog = { cpus: `${rank}`, count: d.pick(1, 2) };
      const sick = ranks((part) => ['steps', each, 0, units(2500 / each, part)], { hog });
      const says = new RegExp(`Rank ${rank} .*CPU ${rank} `);
      return { sick, cured: without(sick, 'hog'), rule: 'late-rank', says };
    },
  },
  {
    name: 'ranks: too many messages',
    draw: (d) => {
      const rounds = d.whole(16_000, 20_000);
      const run = (thousands, each) =>
        ranks((part) => ['talk', 1000 * units(thousands, part), each]);
      const sick = run(rounds, 0);
      return { sick, cured: run(rounds / 10, 0), rule: 'mpi-share', says: /MPI_Sendrecv_replace/ };
    },
  },
  {
    name: 'ranks: more than CPUs',
    draw: (d) => {
      const each = d.whole(20, 40);
      const run = (count, steps) =>
        ranks((part) => ['steps', each, 0, units(steps / each, part)], { count });
      const says = /need [34]\.\d CPUs/;
      return { sick: run(4, 1500), cured: run(2, 3000), rule: 'waiting-threads', says };
    },
  },
  {
    name: 'program: more threads than CPUs',
    draw: (d) => {
      const [threads, all] = [d.pick(5, 6), d.whole(7000, 8000)];
      const run = (count) => plain((part) => ['work', count, units(all / count, part)]);
      const says = /need [3-6]\.\d CPUs/;
      return { sick: run(threads), cured: run(2), rule: 'waiting-threads', says };
    },
  },
  {
    name: 'program: writes to a slow disk',
    lacks: lacksGroups,
    draw: (d) => {
      const [megabytes, piece] = [d.whole(20, 30), d.pick(256, 512, 1024)];
      const sick = plain((part, folder) => ['write', file(folder), units(megabytes, part), piece], {
        writes: d.whole(4e6, 7e6),
      });
      const says = /was blocked by a device .*moved the most data: .* to devices/;
      return { sick, cured: without(sick, 'writes'), rule: 'device-wait', says };
    },
  },
  {
    name: 'program: threads that migrate',
    draw: (d) => {
      const all = d.whole(4000, 5000);
      const run = (where) => plain((part) => ['work', 1, units(all, part), where]);
      const says = /changed its CPU at least/;
      return { sick: run('moving'), cured: run('bound'), rule: 'migrating-threads', says };
    },
  },
  {
    name: 'program: fresh memory again and again',
    draw: (d) => {
      const [megabytes, times] = [d.whole(64, 128), d.whole(14_000, 18_000)];
      const run = (...kept) =>
        plain((part) => ['fault', megabytes, units(times / megabytes, part), ...kept]);
      return { sick: run(), cured: run('kept'), rule: 'page-faults', says: /faulted in/ };
    },
  },
  {
    name: 'program: a mapped file and too little memory',
    lacks: lacksGroups,
    draw: (d) => {
      const touches = d.whole(120, 160);
      const memory = d.whole(100e6, 130e6);
      const sick = plain((part, folder) => ['map', file(folder), 200, units(touches, part)], {
        memory,
      });
      return {
        sick,
        cured: { ...sick, memory: 900e6 },
        rule: 'memory-stall',
        says: /Memory is short .*control group .*triscope-causes.* may have/,
      };
    },
  },
  {
    name: 'program: near its memory limit',
    lacks: lacksGroups,
    draw: (d) => {
      const megabytes = d.whole(150, 250);
      const sick = plain((part) => ['hold', megabytes, Math.max(2, units(4, part))], {
        memory: Math.round(megabytes * 2 ** 20 * d.real(1.02, 1.05)),
      });
      const says = /triscope-causes.* of .* that it may have/;
      return { sick, cured: { ...sick, memory: 900e6 }, rule: 'memory-limit', says };
    },
  },
];

const script = (...words) => ({ program: words });

export const PROGRAM_HEALTHY = [
  { name: 'program: ends at once', draw: () => script('true') },
  {
    name: 'program: one thread that computes',
    draw: (d) => {
      const drawn = d.whole(3000, 5000);
      return plain((part) => ['work', 1, units(drawn, part)]);
    },
  },
  {
    name: 'program: a thread on each CPU',
    draw: (d) => {
      const drawn = d.whole(3000, 5000);
      return plain((part) => ['work', 2, units(drawn, part), 'bound']);
    },
  },
  {
    name: 'program: two threads anywhere',
    draw: (d) => {
      const drawn = d.whole(3000, 5000);
      return plain((part) => ['work', 2, units(drawn, part)]);
    },
  },
  {
    name: 'program: keeps its memory',
    draw: (d) => {
      const drawn = d.whole(100, 300);
      return plain((part) => ['hold', drawn, units(4, part)]);
    },
  },
  {
    name: 'ranks: even work',
    draw: (d) => {
      const steps = d.whole(50, 80);
      return ranks((part) => ['steps', 60, 0, units(steps, part)]);
    },
  },
  {
    name: 'shell: starts many processes',
    draw: (d) => script('sh', '-c', `for k in $(seq ${d.whole(300, 600)}); do /bin/true; done`),
  },
  {
    name: 'node: allocates and parses',
    draw: (d) => {
      const text = `let s = 0; for (let k = 0; k < ${d.whole(80, 120)}; k++) s += JSON.stringify(Array.from({ length: 1e5 }, (_, n) => ({ n }))).length;`;
      return script(process.execPath, '-e', text);
    },
  },
  {
    name: 'node: a server that mostly waits',
    draw: (d) => {
      const text = `let n = 0; const t = setInterval(() => { for (let k = 0; k < 1e6; k++); if (++n === ${d.whole(80, 120)}) clearInterval(t); }, 30);`;
      return script(process.execPath, '-e', text);
    },
  },
  {
    name: 'compiler: one file after the other',
    draw: (d) => ({
      program: (folder) => [
        ...['sh', '-c', 'for k in $(seq "$1"); do cc -O2 -c -o "$2/one.o" "$3"; done', 'sh'],
        ...[
          `${d.whole(20, 30)}`,
          folder,
          new URL('../../native/triscope_region.c', import.meta.url).pathname,
        ],
      ],
    }),
  },
  {
    name: 'files: written through the cache, read again',
    draw: (d) => ({
      program: (folder) => [
        ...[
          'sh',
          '-c',
          'head -c "$1" /dev/urandom > "$2"; for k in 1 2 3; do sha256sum "$2"; done; rm "$2"',
          'sh',
        ],
        ...[`${d.whole(100, 200)}M`, join(folder, 'file')],
      ],
    }),
  },
];
