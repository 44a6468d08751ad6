/** The end of the tour: a program of the checkout in C, or in Python, that `record` runs. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../os/scratch.ts';
import { openRecording } from '../query/index.ts';
import { LaunchError } from '../region/controller/index.ts';
import { recordCommand } from './recorded-command.ts';
import { figure, table } from './table.ts';
import { tellWorst } from './worst-finding.ts';

/** Name of the recording. */
export const PROGRAM_RECORDING = 'demo-program';
/** The words that its report shows as its command. */
export const PROGRAM_CALL = ['-o', PROGRAM_RECORDING, '--', 'region-app'];

const inCheckout = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const NATIVE = inCheckout('native');
const IN_C = inCheckout('examples/region-app.c');
const IN_PYTHON = inCheckout('examples/region-app.py');

const works = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** What runs it; null where the examples, or compiler and Python, are not there. @param folder for the program that is built */
function commandIn(folder: string): readonly string[] | null {
  if (!existsSync(IN_C)) return null;
  const program = join(folder, 'region-app');
  const sources = [IN_C, join(NATIVE, 'triscope_region.c')];
  if (works('cc', ['-O2', '-I', NATIVE, '-o', program, ...sources, '-pthread'])) return [program];
  return works('python3', ['--version']) ? ['python3', IN_PYTHON] : null;
}

const REGIONS = `SELECT region, "count" AS visits, runtime FROM geopm_region
WHERE section = 'region' AND region NOT LIKE 'unmarked%' ORDER BY runtime DESC`;

interface RegionRow {
  readonly region: string;
  readonly visits: number;
  readonly runtime: number;
}

/**
 * Records it and says what was found.
 * @param clear removes what an earlier tour left
 * @returns whether there is a recording: not without a compiler or Python
 * @throws RecordError
 */
export async function recordProgram(
  clear: () => void,
  say: (line: string) => void,
): Promise<boolean> {
  const scratch = scratchFolder('triscope-demo-');
  try {
    const command = commandIn(scratch.path);
    if (command === null) return false;
    clear();
    const { path } = await recordCommand({
      ...{ name: PROGRAM_RECORDING, command, called: PROGRAM_CALL },
      ...{ node: true, regions: true, threads: true, every: 1, signals: [], visits: false, say },
    });
    if (path === null) return false;
    const recording = await openRecording(path);
    const rows = await recording.query<RegionRow>(REGIONS).finally(() => recording.close());
    const cells = rows.map((one) => [one.region, figure(one.visits), one.runtime.toFixed(3)]);
    for (const line of table(['region', 'visits', 'seconds'], cells)) say(line);
    await tellWorst(path, { say, examines: true, page: null });
    return true;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    say(error.message);
    return false;
  } finally {
    scratch.remove();
  }
}
