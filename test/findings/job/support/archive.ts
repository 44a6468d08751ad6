/** Hand-made archives: folders of raw stats files. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** 2026-03-01T12:00:00Z in seconds. */
export const NOON = 1772366400;

export const CPU = '!cpu user,E,U=cs nice,E,U=cs system,E,U=cs idle,E,U=cs';
export const MEM = '!mem MemTotal,U=KB MemUsed,U=KB FilePages,U=KB Slab,U=KB';
export const NET = '!net rx_bytes,E,U=B tx_bytes,E,U=B';

export interface Group {
  readonly time: number;
  /** As in the file: `4001,4002`; `-` where none runs. */
  readonly jobs: string;
  readonly marks?: readonly string[];
  /** Lines of records. */
  readonly records?: readonly string[];
  /** The third field of the group's line. */
  readonly host?: string;
}

export interface FileParts {
  /** `$hostname`. */
  readonly host: string;
  readonly schemas?: readonly string[];
  readonly uptime?: number;
  readonly groups: readonly Group[];
}

export function rawFile({ host, schemas = [CPU], uptime = 1e6, groups }: FileParts): string {
  return [
    '$tacc_stats 1.0.2',
    `$hostname ${host}`,
    '$uname Linux x86_64 5.10.0 #1 SMP',
    `$uptime ${uptime}`,
    ...schemas,
    ...groups.flatMap((group) => [
      '',
      [group.time, group.jobs, ...(group.host === undefined ? [] : [group.host])].join(' '),
      ...(group.marks ?? []).map((mark) => `%${mark}`),
      ...(group.records ?? []),
    ]),
    '',
  ].join('\n');
}

/** A new folder with files by path; those named *.gz are packed. */
export function archiveOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-archive-'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, path.endsWith('.gz') ? gzipSync(text) : text);
  }
  return folder;
}

/** A group of job 7 in which CPU 0 has spent `user` cs in user mode. */
export const busy = (time: number, user: number, more: Partial<Group> = {}): Group => ({
  time,
  jobs: '7',
  records: [`cpu 0 ${user} 0 0 0`],
  ...more,
});

/** Three groups from `from` on, ten minutes apart, with marks; `rate` cs a second in user mode. */
export const whole = (from: number, rate: number, start = 1000): Group[] => [
  busy(from, start, { marks: ['begin 7'] }),
  busy(from + 600, start + 600 * rate),
  busy(from + 1200, start + 1200 * rate, { marks: ['end 7'] }),
];
