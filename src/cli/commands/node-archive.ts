/** `triscope node archive`: old files of the log, compressed, into an archive. */
import { DEFAULT_CONFIG, numberIn } from '../../node/config.ts';
import { archiveLog } from '../../node/log/archive.ts';
import { EXIT, UsageError } from '../errors.ts';
import { LOG_FOLDER, stringOf, text } from '../node-log-options.ts';
import { HELP, readWords } from '../node-options.ts';
import { BROKER_OPTIONS, brokerFrom } from '../node-sinks.ts';

/** Seconds, as in the original. */
const AGE = 86_400;
const MOST = 1e12;

const USAGE = `usage: triscope node archive --archive DIR [--dir DIR] [--age SECONDS] [--json]
       triscope node archive --archive DIR --server HOST [--queue NAME] [--port N] [--user NAME]

Compresses files of the log into ARCHIVE/HOST/SECOND.gz, and removes them when that is on the disk. With --server:
files what daemons publish to this RabbitMQ, each sample once, until SIGINT or SIGTERM.

  --archive DIR     the archive
  --dir DIR         the log's folder (TRISCOPE_NODE_DIR, ${LOG_FOLDER})
  --age SECONDS     files that began so long ago, by their names, or earlier (${AGE})
  --json            print what was moved and what was left
  --server HOST     the broker; --port N (${DEFAULT_CONFIG.port})
  --queue NAME      (${DEFAULT_CONFIG.queue})
  --user NAME       (guest); the password is that of TRISCOPE_AMQP_PASSWORD (guest)`;

/** Returns the exit code. @throws UsageError, LogError */
export async function nodeArchive(args: readonly string[]): Promise<number> {
  const words = readWords(args, {
    ...HELP,
    archive: text,
    dir: text,
    age: text,
    json: { type: 'boolean' },
    ...BROKER_OPTIONS,
  });
  if (words.values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const [unexpected] = words.positionals;
  if (unexpected !== undefined) throw new UsageError(`unexpected ${unexpected}`);
  const archive = stringOf(words, 'archive');
  if (archive === undefined) throw new UsageError('which archive? --archive DIR');
  const broker = brokerFrom(words, DEFAULT_CONFIG);
  if (broker !== null) return await (await import('../node-receive.ts')).receive(broker, archive);
  const given = stringOf(words, 'age') ?? String(AGE);
  const age = numberIn(given, 0, MOST, true);
  if (age === null) throw new UsageError(`--age ${given}: it is a number of seconds`);
  const folder = stringOf(words, 'dir') ?? (process.env.TRISCOPE_NODE_DIR || LOG_FOLDER);
  const result = await archiveLog(folder, archive, age);
  for (const line of result.left) process.stderr.write(`triscope: ${line}\n`);
  if (words.values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const failed = result.left.some((line) => !line.endsWith('rotate first'));
  return failed ? EXIT.failed : 0;
}
