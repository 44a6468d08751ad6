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
  --json     print [{"file": …, "restored": [{path, text}], "error": null or why not}]`;

const OPTIONS = ['--force', '--json'];

interface Outcome {
  readonly file: string;
  readonly restored: readonly { readonly path: string; readonly text: string }[];
  readonly error: string | null;
}

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
  const force = args.includes('--force');
  const outcomes = files.flatMap((file) => restore(file, force, named.length > 0) ?? []);
  if (args.includes('--json')) process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  for (const { restored, error } of outcomes) {
    if (error !== null) process.stderr.write(`triscope: ${error}\n`);
    if (args.includes('--json')) continue;
    for (const { path, text } of restored) process.stdout.write(`${path}: ${text}\n`);
  }
  return outcomes.every(({ error }) => error === null) ? 0 : EXIT.failed;
}

/** Null: a file that is none of our business. */
function restore(file: string, force: boolean, isNamed: boolean): Outcome | null {
  const saved = readSavedControls(file);
  const refuse = (error: string): Outcome => ({ file, restored: [], error });
  const elsewhere = saved.host !== hostname();
  if ((elsewhere || runs(saved.pid)) && !force) {
    // A folder that several hosts share holds others' files too.
    if (elsewhere && !isNamed) return null;
    const why = elsewhere ? `it is of host ${saved.host}` : `process ${saved.pid} still runs`;
    return refuse(`${file}: ${why}; --force restores it all the same`);
  }
  try {
    restoreControls(file, saved);
    return { file, restored: saved.settings, error: null };
  } catch (error) {
    return refuse((error as Error).message);
  }
}
