/** `triscope node job JOB`: what an archive knows of a job, explained. */
import { examineJob } from '../../findings/index.ts';
import {
  accountedJob,
  devicePage,
  type JobQuery,
  jobObject,
  readJob,
} from '../../findings/job/index.ts';
import { ARCHIVE_HELP, readArchiveCall } from '../archive-options.ts';
import { UsageError } from '../errors.ts';
import { jobText, pageText } from '../job-text.ts';
import { Output } from '../output.ts';
import { painter } from '../table.ts';

const USAGE = `usage: triscope node job JOB --archive DIR [options]

Finds a job's records in an archive of raw stats files, repairs its counters, and prints its hosts,
metrics with their inputs, flags, the course of each host, processes, and what was strange.

${ARCHIVE_HELP}
  --type TYPE          the page of a type: every key of every device, totals and rates
  --all                every host, process and strange spot, not the first 16

Formulas: docs/node/jobs.md.`;

/** Prints the job. Returns the exit code. @throws UsageError, JobError, JobNotFoundError */
export async function nodeJob(args: readonly string[]): Promise<number> {
  const call = readArchiveCall(args, { type: 'text', all: 'switch' }, USAGE);
  if (call === null) return 0;
  const [id, ...rest] = call.positionals;
  if (id === undefined) throw new UsageError(`which job? ${USAGE.split('\n')[0]}`);
  if (rest.length > 0) throw new UsageError(`unexpected ${rest[0]}; one job at a time`);
  const { archive, accounted, hosts, from, to, foreign } = call;
  const query: JobQuery = {
    id,
    foreign,
    ...(hosts !== null && { hosts }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  const own = accounted === null ? null : accountedJob(accounted, query);
  if (accounted !== null && own === null) {
    process.stderr.write(
      `triscope: job ${id} is not in the accounting file; its records are searched for all the same\n`,
    );
  }
  const job = await readJob(archive, { ...query, accounted: own });
  const type = call.text('type');
  const page = type === undefined ? null : devicePage(job, type);
  const paint = painter(process.stdout);
  const out = new Output();
  const verdict = await examineJob(job);
  if (call.json) out.write(`${JSON.stringify({ ...jobObject(job, page), ...verdict }, null, 2)}\n`);
  else if (type !== undefined && page !== null) out.write(pageText(type, page, paint));
  else out.write(`${jobText(job, verdict, paint, call.on('all'))}\n`);
  out.flush();
  for (const { path, why } of archive.skipped) {
    if (!call.json) process.stderr.write(`triscope: ${path}: not read: ${why}\n`);
  }
  return 0;
}
