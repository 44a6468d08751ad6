/** `triscope node index`: an archive's jobs, kept for `node jobs`, `node job`, SQL and the page. */
import {
  type Archive,
  openArchive,
  readAccounting,
  retain,
  type UpdateResult,
  updateIndex,
} from '../../findings/job/index.ts';
import { counted, bytes as sizeText } from '../../model/measures/index.ts';
import { flag, int, text } from '../../model/option.ts';
import { ARCHIVE_OPTIONS } from '../archive-options.ts';
import { type Call, command } from '../command.ts';

const OPTIONS = {
  archive: ARCHIVE_OPTIONS.archive,
  accounting: ARCHIVE_OPTIONS.accounting,
  rebuild: flag(false, 'read all files again, not only those that changed'),
  retain: int(
    0,
    'remove files that began so long ago, once they are in the index; their jobs stay in it, now and later',
    {
      min: 2,
      max: 100_000,
      placeholder: 'DAYS',
      fallback: 'files are kept; jobs of files that are removed otherwise are removed',
    },
  ),
  parquet: text(
    '',
    'write jobs there as Parquet, in folders date=…/cluster=…; existing files of the same days are replaced',
    { placeholder: 'DIR', names: 'folder' },
  ),
  cluster: text('cluster', 'the cluster that those folders name', { placeholder: 'NAME' }),
  json: flag(false, 'one object'),
} as const;

interface Indexed extends UpdateResult {
  /** Files that were removed, as they are too old. */
  readonly removed: number;
}

function textOf({ read, gone, files, measured, jobs, bytes, removed }: Indexed): string {
  const left = gone > 0 ? `, ${gone} gone` : '';
  const gained = `${counted(files, 'file')} (${read} read, ${sizeText(bytes)}${left})`;
  const lost = removed > 0 ? `; ${counted(removed, 'file')} removed` : '';
  return `${gained}, ${counted(jobs, 'job')} (${measured} measured)${lost}\n`;
}

/** Returns the exit code. @throws JobError, the file system's error */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const archive: Archive = openArchive(String(given.archive));
  const accounted = given.accounting === undefined ? null : readAccounting(given.accounting).jobs;
  const rebuild = given.rebuild === true;
  const keep = given.retain === undefined ? undefined : true;
  const result = await updateIndex(archive, { accounted, rebuild, keep });
  if (result === null) throw new Error('nobody else writes it');
  const removed = given.retain === undefined ? 0 : await retain(archive, given.retain);
  if (given.parquet !== undefined) {
    const { writeParquet } = await import('../../findings/job/index.ts');
    await writeParquet(archive, given.parquet, given.cluster ?? OPTIONS.cluster.default);
  }
  const all = { ...result, removed };
  process.stdout.write(given.json ? `${JSON.stringify(all)}\n` : textOf(all));
  return 0;
}

export const nodeIndex = command({
  about:
    'Makes or updates the job index of an archive, ARCHIVE/.jobs.duckdb: new and changed files are read, and their jobs measured. `node jobs`, `node job` and the page use and update an existing index, and `query` has its tables.\n\nTables: docs/node/jobs.md.',
  options: OPTIONS,
  examples: [
    'node index --archive /scratch/stats',
    'node index --archive /scratch/stats --accounting sacct.txt --parquet /scratch/jobs',
  ],
  run,
});
