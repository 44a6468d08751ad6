/** `triscope node collect`: one sample of this machine. */
import type { RawStyle } from '../../formats/tacc/index.ts';
import { Collection, NODE_TYPES, UnknownTypeError } from '../../node/index.ts';
import { EXIT, UsageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { HELP, readWords, rootFrom } from '../node-options.ts';

const COLLECT_USAGE = `usage: triscope node collect [TYPE…] [--root DIR] [--job ID] [--mark TEXT] [--style 1.0|2.3]

Prints one sample as a raw stats file: header, schemas, one record group. All types that this
machine has, unless some are named.

  --root DIR    read the proc and sys of this folder, such as a recorded tree
  --job ID      job that runs here; several separated by commas (-, no job)
  --mark TEXT   a mark for the group
  --style S     1.0: whole seconds, no host in the group's line; 2.3: microseconds and host (1.0)`;

function styleFrom(value: string | boolean | undefined): RawStyle {
  if (value === undefined) return '1.0';
  if (value === '1.0' || value === '2.3') return value;
  throw new UsageError(`--style ${value}: it is 1.0 or 2.3`);
}

/** Prints one sample. Returns the exit code. @throws UsageError */
export async function nodeCollect(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values, positionals } = readWords(args, {
    ...HELP,
    root: text,
    job: text,
    mark: text,
    style: text,
  });
  if (values.help) {
    process.stdout.write(`${COLLECT_USAGE}\n`);
    return 0;
  }
  const options = {
    types: positionals,
    root: rootFrom(values.root),
    style: styleFrom(values.style),
  };
  const say = (type: string, reason: string) =>
    process.stderr.write(`triscope: no records of type ${type}: ${reason}\n`);
  const written: Uint8Array[] = [];
  let collection: Collection;
  try {
    collection = new Collection((bytes) => written.push(bytes.slice()), options);
  } catch (error) {
    if (!(error instanceof UnknownTypeError)) throw error;
    const names = NODE_TYPES.map(({ name }) => name);
    throw new UsageError(error.message + didYouMean(error.type, names));
  }
  for (const { type, reason } of collection.absent) say(type, reason);
  const jobs = typeof values.job === 'string' ? values.job.split(',').filter(Boolean) : [];
  const mark = typeof values.mark === 'string' ? values.mark : undefined;
  collection.writer.header();
  collection.collect(jobs, mark, ({ type, reason }) => say(type, reason));
  collection.close();
  process.stdout.write(Buffer.concat(written));
  return collection.types.length > collection.failures.size ? 0 : EXIT.failed;
}
