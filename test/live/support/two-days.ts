/** An archive of two days with a job index: six hosts, five jobs, one of which asks a file system about files all day. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive, readAccounting, updateIndex } from '../../../src/findings/job/index.ts';
import { archiveOf, CPU, type Group, NOON, rawFile } from '../../findings/job/support/archive.ts';

/** 2026-03-01, a Sunday, 0:00 UTC. */
export const MIDNIGHT = NOON - 43_200;
const HOUR = 3600;
const PERIOD = 2 * HOUR;
const CORES = 4;
const PROC = '!proc Uid VmHWM,U=kB VmRSS,U=kB Threads';
const LLITE = '!llite open,E close,E';

interface DayJob {
  readonly id: string;
  readonly user: string;
  readonly program: string;
  readonly hosts: readonly number[];
  /** Hours since MIDNIGHT. */
  readonly from: number;
  readonly to: number;
  /** Busy cores of a host; files opened and closed per second. */
  readonly cores: number;
  readonly opened: number;
}

/** 98 hours on the first day (104 and 105 share a host for four of theirs), 22 on the second; host 6 has none. */
export const DAY_JOBS: readonly DayJob[] = [
  {
    ...{ id: '101', user: 'ada', program: 'weather', hosts: [1, 2, 3] },
    ...{ from: 0, to: 24, cores: 3.6, opened: 1 },
  },
  {
    ...{ id: '102', user: 'bob', program: 'walker', hosts: [4] },
    ...{ from: 12, to: 36, cores: 0.4, opened: 9000 },
  },
  {
    ...{ id: '103', user: 'ada', program: 'weather', hosts: [1] },
    ...{ from: 30, to: 40, cores: 3.6, opened: 1 },
  },
  {
    ...{ id: '104', user: 'eve', program: 'probe', hosts: [5] },
    ...{ from: 10, to: 20, cores: 1, opened: 1 },
  },
  {
    ...{ id: '105', user: 'eve', program: 'probe', hosts: [5] },
    ...{ from: 16, to: 24, cores: 1, opened: 1 },
  },
];

const nameOf = (host: number) => `n${host}.example`;

function groupsOf(host: number): Group[] {
  let [user, opened] = [0, 0];
  return Array.from({ length: 21 }, (_, k) => {
    const hour = 2 * k;
    const own = DAY_JOBS.filter(({ hosts }) => hosts.includes(host));
    const there = own.filter(({ from, to }) => from <= hour && hour <= to);
    for (const { from, to, cores, opened: files } of own) {
      if (hour <= from || hour > to) continue;
      user += (cores * PERIOD * 100) / CORES;
      // In the night more of them.
      opened += files * PERIOD * (hour === 26 ? 2 : 1);
    }
    const idle = k * PERIOD * 100 - user;
    return {
      time: MIDNIGHT + hour * HOUR,
      jobs: there.length === 0 ? '-' : there.map(({ id }) => id).join(','),
      marks: there.flatMap(({ id, from, to }) => [
        ...(hour === from ? [`begin ${id}`] : []),
        ...(hour === to ? [`end ${id}`] : []),
      ]),
      records: [
        ...Array.from({ length: CORES }, (__, cpu) => `cpu ${cpu} ${user} 0 0 ${idle}`),
        `llite /work ${opened} ${opened}`,
        ...there.map(({ id, program }) => `proc ${program}/${id}/0-3/0 1000 1024 512 4`),
      ],
    };
  });
}

let made: Promise<string> | null = null;

async function make(): Promise<string> {
  const hosts = [1, 2, 3, 4, 5, 6];
  const folder = archiveOf(
    Object.fromEntries(
      hosts.map((host) => {
        const schemas = [CPU, LLITE, PROC];
        const text = rawFile({ host: nameOf(host), schemas, groups: groupsOf(host) });
        return [`${nameOf(host)}/${MIDNIGHT}`, text];
      }),
    ),
  );
  const lines = DAY_JOBS.map(({ id, user, hosts: own, from, to }) => {
    const [start, end] = [from, to].map((hour) => MIDNIGHT + hour * HOUR);
    const list = own.map((host) => `n${host}`).join(',');
    return `${id}|${user}|acc|${start}|${end}|${start}|normal|24:00:00|run|COMPLETED|${own.length}|${own.length * CORES}|${list}`;
  });
  const head =
    'JobID|User|Account|Start|End|Submit|Partition|Timelimit|JobName|State|NNodes|ReqCPUS|NodeList';
  writeFileSync(join(folder, 'accounting'), [head, ...lines, ''].join('\n'));
  const accounted = readAccounting(join(folder, 'accounting')).jobs;
  await updateIndex(openArchive(folder), { accounted });
  return folder;
}

/** Its folder, made once in a process. */
export function twoDays(): Promise<string> {
  made ??= make();
  return made;
}
