/** An archive of many hosts: one of them slow, one with a counter that rolls over, one with odd records. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  archiveOf,
  CPU,
  type Group,
  MEM,
  NOON,
  rawFile,
} from '../../findings/job/support/archive.ts';

/** 32 bits: it rolls over. */
const NET = '!net rx_bytes,E,W=32,U=B tx_bytes,E,W=32,U=B';
const PERIOD = 600;
const CORES = 4;

export const SLOW = 'c064.example';
export const WRAPPED = 'c003.example';
export const ODD = 'c005.example';
/** Job 7: five hours on all hosts; job 8 before it, on two. */
export const GROUPS = 31;
export const FROM = NOON;
const EARLIER = NOON - 7200;

export const hostNames = (count: number): string[] =>
  Array.from({ length: count }, (_, k) => `c${String(k + 1).padStart(3, '0')}.example`);

/** Cores that a host keeps busy: 3.6, the slow one 0.8; a little less every other hour. */
const busyCores = (host: string, group: number): number =>
  (host === SLOW ? 0.8 : 3.6) - (Math.floor(group / 6) % 2) * 0.2;

/** Bytes a second that each host receives. */
export const RATE = 10_000;

function groupsOf(host: string, job: string, from: number, count: number): Group[] {
  let user = 0;
  return Array.from({ length: count }, (_, k) => {
    const time = from + k * PERIOD;
    if (k > 0) user += Math.round((busyCores(host, k) * PERIOD * 100) / CORES);
    const idle = k * PERIOD * 100 - user;
    const start = host === WRAPPED ? 2 ** 32 - 5 * PERIOD * RATE - 1 : 0;
    const received = (start + k * PERIOD * RATE) % 2 ** 32;
    const records = [
      ...Array.from({ length: CORES }, (_, cpu) => `cpu ${cpu} ${user} 0 ${k} ${idle}`),
      `mem 0 ${32 * 2 ** 20} ${8 * 2 ** 20 + k * 1000} ${2 ** 20} 1000`,
      // A line that was torn.
      host === ODD && k === 10 ? 'net eth0 12 broken' : `net eth0 ${received} ${k * 1000}`,
    ];
    const marks = k === 0 ? [`begin ${job}`] : k === count - 1 ? [`end ${job}`] : [];
    return { time, jobs: job, marks, records };
  });
}

/** Its folder. With an accounting file beside the hosts. */
export function cluster(hosts = 64): string {
  const files: Record<string, string> = {};
  for (const [k, host] of hostNames(hosts).entries()) {
    const groups = [
      ...(k < 2 ? groupsOf(host, '8', EARLIER, 4) : []),
      ...groupsOf(host, '7', FROM, GROUPS),
    ];
    if (host === ODD) {
      // Another host's group, in the wrong folder.
      groups.splice(15, 0, {
        time: FROM + 14.5 * PERIOD,
        jobs: '7',
        host: 'c099.example',
        records: ['cpu 0 1 1 1 1'],
      });
    }
    files[`${host}/${groups[0].time}`] = rawFile({ host, schemas: [CPU, MEM, NET], groups });
  }
  const folder = archiveOf(files);
  const end = FROM + (GROUPS - 1) * PERIOD;
  writeFileSync(
    join(folder, 'accounting'),
    [
      'JobID|User|Account|Start|End|Submit|Partition|Timelimit|JobName|State|NNodes|ReqCPUS|NodeList',
      `7|ada|acc|${FROM}|${end}|${FROM - 60}|normal|06:00:00|weather|COMPLETED|${hosts}|${hosts * CORES}|${hostNames(
        hosts,
      )
        .map((name) => name.split('.')[0])
        .join(',')}`,
      `8|bob|acc|${EARLIER}|${EARLIER + 1800}|${EARLIER - 5}|debug|00:30:00|probe|FAILED|2|8|c001,c002`,
      '',
    ].join('\n'),
  );
  return folder;
}
