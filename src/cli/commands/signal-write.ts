/** `triscope signal write CONTROL DOMAIN INDEX VALUE`: changes a setting of the machine. */
import { UsageError } from '../errors.ts';
import { COMMON, indexFrom, platformOptions, readWords, withPlatform } from '../signal-options.ts';

const USAGE = `usage: triscope signal write CONTROL DOMAIN INDEX VALUE --allow-control [--root DIR] [--json]

Writes a setting, in its unit (watts, hertz, seconds); it stays until it is written again. Prints
what was there before. triscope signal list --controls lists the settings.

  --allow-control  permits it; without, nothing is written
  --root DIR       write below this folder, such as a recorded tree
  --json           print {"control": …, "domain": …, "index": …, "value": …, "before": [{path, text}]}`;

/** Writes one value. Returns the exit code. @throws UsageError, ControlError */
export async function signalWrite(args: readonly string[]): Promise<number> {
  const words = readWords(args, { ...COMMON, 'allow-control': { type: 'boolean' } });
  const { values, positionals } = words;
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (positionals.length !== 4) {
    throw new UsageError('usage: triscope signal write CONTROL DOMAIN INDEX VALUE --allow-control');
  }
  const [control, domain, text, number] = positionals;
  const index = indexFrom(text);
  const value = Number(number);
  if (number.trim() === '' || !Number.isFinite(value)) {
    throw new UsageError(`value ${number}: it is a number`);
  }
  const allowControl = values['allow-control'] === true;
  return withPlatform({ ...platformOptions(words), allowControl }, (platform) => {
    platform.controls.write(control, platform.domain(domain), index, value);
    const before = platform.controls.saved();
    if (values.json) {
      process.stdout.write(`${JSON.stringify({ control, domain, index, value, before })}\n`);
    } else {
      for (const { path, text } of before) process.stdout.write(`${path}: it was ${text}\n`);
    }
    return 0;
  });
}
