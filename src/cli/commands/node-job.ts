/** `triscope node job JOB`: what an archive knows about a job, with findings. */
import { examineJob } from '../../findings/index.ts';
import {
  accountedJob,
  devicePage,
  filesOfJob,
  type JobQuery,
  jobObject,
  readJob,
} from '../../findings/job/index.ts';
import { flag, text } from '../../model/option.ts';
import { ARCHIVE_OPTIONS, readArchiveCall } from '../archive-options.ts';
import { type Call, command } from '../command.ts';
import { jobText, pageText } from '../job-text.ts';
import { Output } from '../output.ts';
import { painter } from '../table.ts';

const OPTIONS = {
  ...ARCHIVE_OPTIONS,
  type: text('', 'the page of a type: every key of every device, totals and rates', {
    placeholder: 'TYPE',
    names: 'type',
  }),
  all: flag(false, 'every host, process and suspect spot, not the first 16'),
};

/** Prints the job. Returns the exit code. @throws UsageError, JobError, JobNotFoundError */
async function run({ words: [id], given }: Call<typeof OPTIONS, null>): Promise<number> {
  const call = readArchiveCall(given);
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
      `triscope: job ${id} is not in the accounting file; its records are searched for anyway\n`,
    );
  }
  const job = await readJob(await filesOfJob(archive, id), { ...query, accounted: own });
  const type = given.type;
  const page = type === undefined ? null : devicePage(job, type);
  const paint = painter(process.stdout);
  const out = new Output();
  const verdict = await examineJob(job);
  if (call.json) out.write(`${JSON.stringify({ ...jobObject(job, page), ...verdict }, null, 2)}\n`);
  else if (type !== undefined && page !== null) out.write(pageText(type, page, paint));
  else out.write(`${jobText(job, verdict, paint, given.all === true)}\n`);
  out.flush();
  for (const { path, why } of archive.skipped) {
    if (!call.json) process.stderr.write(`triscope: ${path}: not read: ${why}\n`);
  }
  return 0;
}

export const nodeJob = command({
  about:
    'Finds a job’s records in an archive of raw stats files, repairs its counters, and prints its hosts, metrics with their inputs, flags, the course of each host, processes, and what is doubtful.\n\nFormulas: docs/node/jobs.md.',
  arguments: [{ name: 'JOB', help: 'its id', names: 'job' }],
  options: OPTIONS,
  examples: [
    'node job 1234 --archive /scratch/stats',
    'node job 1234 --archive /scratch/stats --type cpu',
  ],
  run,
});
