/** `triscope signal read SIGNAL DOMAIN INDEX`: one value now. */
import { flag } from '../../model/option.ts';
import { valueText } from '../../region/signals/index.ts';
import { type Call, command } from '../command.ts';
import { EXIT } from '../errors.ts';
import { ROOT } from '../root-option.ts';
import { indexFrom, PLACE, platformOptions, SYNTHETIC, withPlatform } from '../signal-options.ts';

const OPTIONS = {
  root: ROOT,
  synthetic: SYNTHETIC,
  json: flag(false, 'print {"signal": …, "domain": …, "index": …, "value": …, "unit": …}'),
};

/** Prints a value. Returns the exit code. @throws UsageError, AbsentSignalError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const [signal, domain, text] = words;
  const index = indexFrom(text);
  return withPlatform(platformOptions(given, given.synthetic), (platform) => {
    const value = platform.read(signal, platform.domain(domain), index);
    const { format = 'double', unit = '' } = platform.info(signal) ?? {};
    const told = Number.isNaN(value) ? null : value;
    const shown = told !== null && format === 'raw64' ? valueText(value, format) : told;
    const facts = { signal, domain, index, value: shown, unit };
    const out = given.json ? JSON.stringify(facts) : valueText(value, format);
    process.stdout.write(`${out}\n`);
    return told === null ? EXIT.failed : 0;
  });
}

export const signalRead = command({
  about:
    'Prints the signal’s value now. At a coarser domain than its own, the values of its parts are aggregated. A value that cannot be read at this moment is printed as nan, with exit code 1.',
  arguments: [{ name: 'SIGNAL', help: 'a name from signal list', names: 'signal' }, ...PLACE],
  options: OPTIONS,
  examples: ['signal read TIME board 0', 'signal read CPU_ENERGY board 0 --synthetic'],
  run,
});
