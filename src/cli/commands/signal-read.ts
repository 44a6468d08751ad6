/** `triscope signal read SIGNAL DOMAIN INDEX`: one value now. */
import { valueText } from '../../region/signals/index.ts';
import { EXIT, UsageError } from '../errors.ts';
import {
  COMMON,
  COMMON_HELP,
  indexFrom,
  platformOptions,
  readWords,
  withPlatform,
} from '../signal-options.ts';

const USAGE = `usage: triscope signal read SIGNAL DOMAIN INDEX [--root DIR] [--synthetic] [--json]

Prints the signal's value now, such as: triscope signal read CPU_ENERGY board 0
At a coarser domain than its own, the values of its parts are aggregated. What cannot be read at
this moment is printed as nan, with exit code 1.

${COMMON_HELP}
  --json        print {"signal": …, "domain": …, "index": …, "value": …, "unit": …}`;

/** Prints a value. Returns the exit code. @throws UsageError, AbsentSignalError */
export async function signalRead(args: readonly string[]): Promise<number> {
  const words = readWords(args, COMMON);
  const { values, positionals } = words;
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (positionals.length !== 3) {
    throw new UsageError('usage: triscope signal read SIGNAL DOMAIN INDEX');
  }
  const [signal, domain, text] = positionals;
  const index = indexFrom(text);
  return withPlatform(platformOptions(words), (platform) => {
    const value = platform.read(signal, platform.domain(domain), index);
    const { format = 'double', unit = '' } = platform.info(signal) ?? {};
    const told = Number.isNaN(value) ? null : value;
    const facts = { signal, domain, index, value: told, unit };
    const out = values.json ? JSON.stringify(facts) : valueText(value, format);
    process.stdout.write(`${out}\n`);
    return told === null ? EXIT.failed : 0;
  });
}
