/** Options of the commands that read an archive of raw stats. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type AccountedJob,
  type Archive,
  expandHosts,
  openArchive,
  readAccounting,
} from '../findings/job/index.ts';
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

export const ARCHIVE_HELP = `  --archive DIR        folder with a folder for each host, in which lie raw stats files named by their
                       time, such as 1380603606.gz
  --accounting FILE    accounting file of SGE, SLURM or sacct, or a folder of such files
  --hosts LIST         only these hosts, such as c[401-404,410]-10[1-3]; @FILE reads the list
  --from T --to T      only records of this time: seconds since 1970, or 2013-10-01T21:30 (local time;
                       with Z or +02:00 of that zone)
  --include-foreign    take records that another host wrote into a host's folder, too
  --json               one object`;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const COMMON = {
  archive: TEXT,
  accounting: TEXT,
  hosts: TEXT,
  from: TEXT,
  to: TEXT,
  'include-foreign': FLAG,
  json: FLAG,
  help: { ...FLAG, short: 'h' },
} as const;

export interface ArchiveCall {
  readonly positionals: readonly string[];
  readonly archive: Archive;
  readonly accounted: readonly AccountedJob[] | null;
  readonly hosts: readonly string[] | null;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly foreign: boolean;
  readonly json: boolean;
  text(name: string): string | undefined;
  on(name: string): boolean;
}

/** @throws UsageError */
export function timeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // A bare day is taken as local time, like all that name no zone.
  const value = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  if (Number.isNaN(value)) {
    throw new UsageError(
      `--${name} ${text}: it is seconds since 1970, or a time such as 2013-10-01T21:30`,
    );
  }
  return value / 1000;
}

function hostsOption(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  let list = text;
  if (text.startsWith('@')) {
    try {
      list = readFileSync(text.slice(1), 'utf8');
    } catch (error) {
      throw new UsageError(`--hosts ${text}: ${(error as NodeJS.ErrnoException).code}`);
    }
  }
  const hosts = expandHosts(list);
  if (hosts.length === 0) throw new UsageError(`--hosts ${text}: names no host`);
  return hosts;
}

/**
 * Reads the words, the archive's list of files, and the accounting file. For `--help` prints `usage` and gives null.
 * @throws UsageError, JobError
 */
export function readArchiveCall(
  args: readonly string[],
  more: Readonly<Record<string, 'text' | 'switch'>>,
  usage: string,
): ArchiveCall | null {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = { ...COMMON };
  for (const [name, kind] of Object.entries(more)) options[name] = kind === 'text' ? TEXT : FLAG;
  for (const word of args) {
    if (word === '--') break;
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name === undefined || name in options) continue;
    const names = Object.keys(options).map((key) => `--${key}`);
    throw new UsageError(`unknown option --${name}${didYouMean(`--${name}`, names)}`);
  }
  let parsed: ReturnType<typeof parse>;
  const parse = () => parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
  const { values, positionals } = parsed;
  if (values.help === true) {
    process.stdout.write(`${usage}\n`);
    return null;
  }
  const text = (name: string) => values[name] as string | undefined;
  const path = text('archive');
  if (path === undefined) throw new UsageError(`which archive? ${usage.split('\n')[0]}`);
  const from = timeOption('from', text('from'));
  const to = timeOption('to', text('to'));
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${text('from')} is after --to ${text('to')}`);
  }
  const hosts = hostsOption(text('hosts'));
  const accounting = text('accounting');
  const found = accounting === undefined ? null : readAccounting(accounting);
  if (found !== null && found.problems.length > 0) {
    const [{ place, what }] = found.problems;
    const more = found.problems.length > 1 ? ` and ${found.problems.length - 1} more` : '';
    process.stderr.write(`triscope: ${place}: ${what}; left out${more}\n`);
  }
  return {
    positionals,
    archive: openArchive(path),
    accounted: found?.jobs ?? null,
    ...{ hosts, from, to, text },
    foreign: values['include-foreign'] === true,
    json: values.json === true,
    on: (name) => values[name] === true,
  };
}
