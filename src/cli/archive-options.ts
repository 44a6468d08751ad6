/** Options of the commands that read an archive of raw stats. */

import {
  type AccountedJob,
  type Archive,
  expandHosts,
  openArchive,
  readAccounting,
} from '../findings/job/index.ts';
import { flag, text } from '../model/option.ts';
import { readPlain, readReason } from '../os/plain-file.ts';
import type { Given } from './command.ts';
import { UsageError } from './errors.ts';

const time = (edge: string) =>
  text(
    '',
    `only records ${edge} this time: seconds since 1970, or 2013-10-01T21:30 (local time; with Z or +02:00 of that zone)`,
    { placeholder: 'T' },
  );

export const ARCHIVE_OPTIONS = {
  archive: text(
    '',
    'folder with a folder per host of raw stats files named by their time, such as 1380603606.gz',
    { placeholder: 'DIR', names: 'input', required: true },
  ),
  accounting: text('', 'accounting file of SGE, SLURM or sacct, or a folder of such files', {
    placeholder: 'FILE',
    names: 'input',
  }),
  hosts: text('', 'only these hosts, such as c[401-404,410]-10[1-3]; @FILE reads the list', {
    placeholder: 'LIST',
  }),
  from: time('from'),
  to: time('to'),
  'include-foreign': flag(false, 'also take records that another host wrote into a host’s folder'),
  json: flag(false, 'one object'),
} as const;

export interface ArchiveCall {
  readonly archive: Archive;
  readonly accounted: readonly AccountedJob[] | null;
  readonly hosts: readonly string[] | null;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly foreign: boolean;
  readonly json: boolean;
}

/** @throws UsageError */
export function timeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // A bare day is taken as local time, like all that name no zone.
  const value = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  if (Number.isNaN(value)) {
    throw new UsageError(
      `--${name} ${text}: must be seconds since 1970, or a time such as 2013-10-01T21:30`,
    );
  }
  return value / 1000;
}

function hostsOption(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  let list = text;
  if (text.startsWith('@')) {
    try {
      list = readPlain(text.slice(1));
    } catch (error) {
      throw new UsageError(`--hosts ${text}: ${readReason(error)}`);
    }
  }
  const hosts = expandHosts(list);
  if (hosts.length === 0) throw new UsageError(`--hosts ${text}: does not name a host`);
  return hosts;
}

/** Opens what the options name. @throws UsageError, JobError */
export function readArchiveCall(given: Given<typeof ARCHIVE_OPTIONS>): ArchiveCall {
  const from = timeOption('from', given.from);
  const to = timeOption('to', given.to);
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${given.from} is after --to ${given.to}`);
  }
  const hosts = hostsOption(given.hosts);
  const accounting = given.accounting;
  const found = accounting === undefined ? null : readAccounting(accounting);
  if (found !== null && found.problems.length > 0) {
    const [{ place, what }] = found.problems;
    const more = found.problems.length > 1 ? ` and ${found.problems.length - 1} more` : '';
    process.stderr.write(`triscope: ${place}: ${what}; left out${more}\n`);
  }
  return {
    archive: openArchive(String(given.archive)),
    accounted: found?.jobs ?? null,
    ...{ hosts, from, to },
    foreign: given['include-foreign'] === true,
    json: given.json === true,
  };
}
