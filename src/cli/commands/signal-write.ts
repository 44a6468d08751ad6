/** `triscope signal write CONTROL DOMAIN INDEX VALUE`: changes a setting of the machine. */
import { flag } from '../../model/option.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { ROOT } from '../root-option.ts';
import { indexFrom, PLACE, platformOptions, SYNTHETIC, withPlatform } from '../signal-options.ts';

const OPTIONS = {
  'allow-control': flag(false, 'allow it; without this option nothing is written'),
  root: { ...ROOT, help: 'write below this folder, such as a recorded tree' },
  synthetic: { ...SYNTHETIC, hidden: true },
  json: flag(
    false,
    'print {"control": …, "domain": …, "index": …, "value": …, "before": [{path, text}]}',
  ),
} as const;

/** Writes one value. Returns the exit code. @throws UsageError, ControlError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const [control, domain, text, number] = words;
  const index = indexFrom(text);
  const value = Number(number);
  if (number.trim() === '' || !Number.isFinite(value)) {
    throw new UsageError(`value ${number}: must be a number`);
  }
  const allowControl = given['allow-control'] === true;
  return withPlatform({ ...platformOptions(given), allowControl }, (platform) => {
    platform.controls.write(control, platform.domain(domain), index, value);
    const before = platform.controls.saved();
    if (given.json) {
      process.stdout.write(`${JSON.stringify({ control, domain, index, value, before })}\n`);
    } else {
      for (const { path, text } of before) process.stdout.write(`${path}: it was ${text}\n`);
    }
    return 0;
  });
}

export const signalWrite = command({
  about:
    'Writes a setting, in its unit (watts, hertz, seconds); it stays until it is written again. Prints what was there before. triscope signal list --controls lists the settings.',
  arguments: [
    { name: 'CONTROL', help: 'a name from signal list --controls', names: 'control' },
    ...PLACE,
    { name: 'VALUE', help: 'in the control’s unit' },
  ],
  options: OPTIONS,
  examples: ['signal write CPU_POWER_LIMIT_CONTROL package 0 150 --allow-control'],
  run,
});
