/** `triscope node archive`: old files of the log, compressed, into an archive. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { flag, int, text } from '../../model/option.ts';
import { DAY_SECONDS } from '../../model/units.ts';
import { DEFAULT_CONFIG } from '../../node/config.ts';
import { archiveLog } from '../../node/log/archive.ts';
import { JOB_INDEX } from '../../query/job-tables.ts';
import { type Call, command } from '../command.ts';
import { EXIT } from '../errors.ts';
import { DIR, logFolder, say } from '../node-log-options.ts';
import { BROKER_OPTIONS, brokerFrom } from '../node-sinks.ts';

/** Seconds, as in the original. */
const AGE_SECONDS = DAY_SECONDS;
const MOST_SECONDS = 1e12;

const OPTIONS = {
  archive: text('', 'the archive', { placeholder: 'DIR', names: 'folder', required: true }),
  dir: DIR,
  age: int(AGE_SECONDS, 'minimum age of a file, by its name', {
    min: 0,
    max: MOST_SECONDS,
    placeholder: 'SECONDS',
  }),
  json: flag(false, 'print what was moved and what was left'),
  ...BROKER_OPTIONS,
} as const;

/** Reads the moved files into the archive's index, where it has one. The files are in place whether or not that succeeds. */
async function indexMoved(archive: string, moved: readonly string[]): Promise<void> {
  if (!existsSync(join(archive, JOB_INDEX))) return;
  const { indexArrived } = await import('../../findings/job/index.ts');
  try {
    await indexArrived(
      archive,
      moved.map((path) => relative(archive, path)),
    );
  } catch (error) {
    say(
      `${join(archive, JOB_INDEX)}: will be updated by the next query: ${(error as Error).message}`,
    );
  }
}

/** Returns the exit code. @throws UsageError, LogError */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const archive = String(given.archive);
  const broker = brokerFrom(given, DEFAULT_CONFIG);
  if (broker !== null) return await (await import('../node-receive.ts')).receive(broker, archive);
  const age = given.age ?? OPTIONS.age.default;
  const result = await archiveLog(logFolder(given), archive, age);
  if (result.moved.length > 0) await indexMoved(archive, result.moved);
  for (const line of result.left) process.stderr.write(`triscope: ${line}\n`);
  if (given.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const failed = result.left.some((line) => !line.endsWith('rotate first'));
  return failed ? EXIT.failed : 0;
}

export const nodeArchive = command({
  about:
    'Compresses files of the log into ARCHIVE/HOST/SECOND.gz, and removes the originals once the copies are on the disk. With --server: archives what daemons publish to this RabbitMQ, each sample once, until SIGINT or SIGTERM.',
  options: OPTIONS,
  examples: [
    'node archive --archive /scratch/stats',
    'node archive --archive /scratch/stats --server broker',
  ],
  run,
});
