/** `triscope region restore`: puts back settings of the machine that a killed controller left changed. */
import { hostname } from 'node:os';
import {
  readSavedControls,
  restoreControls,
  savedControlsFiles,
  savedControlsFolder,
} from '../../region/controller/index.ts';
import { EXIT, UsageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';

const USAGE = `usage: triscope region restore [FILE…] [--force] [--json]

Puts back what region launch kept before it changed settings of the machine, and was killed.
All files of this host unless some are named; they are in
${savedControlsFolder()}.

  --force    also where the controller seems to run still
  --json     print {"restored": [{path, text}]}`;

const OPTIONS = ['--force', '--json'];

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the exit code. @throws UsageError */
export async function regionRestore(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const wrong = args.find((word) => word.startsWith('-') && !OPTIONS.includes(word));
  if (wrong !== undefined) {
    throw new UsageError(`unknown option ${wrong}${didYouMean(wrong, OPTIONS)}`);
  }
  const named = args.filter((word) => !word.startsWith('-'));
  const files = named.length > 0 ? named : savedControlsFiles(savedControlsFolder());
  const isJson = args.includes('--json');
  const restored: { path: string; text: string }[] = [];
  let failed = 0;
  for (const file of files) {
    const saved = readSavedControls(file);
    const elsewhere = saved.host !== hostname();
    const busy = runs(saved.pid);
    if ((elsewhere || busy) && !args.includes('--force')) {
      // A folder that several hosts share holds others' files too.
      if (elsewhere && named.length === 0) continue;
      const why = elsewhere ? `it is of host ${saved.host}` : `process ${saved.pid} still runs`;
      process.stderr.write(`triscope: ${file}: ${why}; --force restores it all the same\n`);
      failed++;
      continue;
    }
    try {
      restoreControls(file, saved);
      for (const { path, text } of saved.settings) {
        restored.push({ path, text });
        if (!isJson) process.stdout.write(`${path}: ${text}\n`);
      }
    } catch (error) {
      process.stderr.write(`triscope: ${(error as Error).message}\n`);
      failed++;
    }
  }
  if (isJson) process.stdout.write(`${JSON.stringify({ restored })}\n`);
  return failed === 0 ? 0 : EXIT.failed;
}
