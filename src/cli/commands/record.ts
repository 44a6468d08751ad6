/** `triscope record -- COMMAND`: any program on one timeline with its machine, its regions and its threads. */
import { dirname } from 'node:path';
import type { LiveServer } from '../../live/index.ts';
import { flag, float, int, text } from '../../model/option.ts';
import { DAY_SECONDS } from '../../model/units.ts';
import { isAlive } from '../../os/alive.ts';
import { exitNow } from '../../os/exit.ts';
import { textOf } from '../../os/proc-file.ts';
import { LaunchError, signalRequest } from '../../region/controller/index.ts';
import { checkPage } from '../../report/index.ts';
import { type Call, command } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';
import { recordCommand } from '../recorded-command.ts';
import { othersEnded, recordedTask } from '../recorded-task.ts';
import { tellWorst } from '../worst-finding.ts';

const OPTIONS = {
  output: text('', 'the recording: NAME.tri, a folder that is made', {
    placeholder: 'NAME',
    short: 'o',
    names: 'path',
    fallback: 'after COMMAND',
  }),
  every: float(1, 'time between samples of the node’s counters', {
    min: 0.01,
    max: DAY_SECONDS,
    placeholder: 'S',
    unit: 's',
  }),
  'no-node': flag(false, 'do not sample the node'),
  'no-regions': flag(false, 'do not record regions, nor load the shims that mark MPI and OpenMP'),
  'no-threads': flag(false, 'do not sample processes and threads'),
  visits: flag(
    false,
    'trace each visit of a region: exports to Perfetto and the page draw them (about 100 bytes each)',
  ),
  live: flag(false, 'print a link to the page that shows it while it runs'),
  pid: int(0, 'record a running process, until it ends or Ctrl-C; without regions', {
    min: 1,
    placeholder: 'N',
    fallback: 'COMMAND',
  }),
  signals: text('', 'signals for the report and the trace of regions: SIGNAL, or SIGNAL@domain', {
    placeholder: 'LIST',
  }),
  report: text('', 'at the end, write the report as an HTML page', {
    placeholder: 'FILE',
    names: 'path',
  }),
};

/** A folder's name made of a process's name, which may hold any characters; the process's number where nothing remains of it. */
const nameOf = (pid: number): string =>
  (textOf(`/proc/${pid}/comm`) ?? '').replaceAll(/[^\w.-]/g, '') || String(pid);

/** @throws UsageError where a signal cannot be had, before anything is made */
async function checkSignals(requests: readonly string[]): Promise<void> {
  const { withPlatform } = await import('../signal-options.ts');
  withPlatform({}, (platform) => {
    for (const request of requests) signalRequest(platform, request);
  });
}

/** Runs it. Returns the command's exit code. @throws UsageError, RecordError */
async function run({ words, given, args }: Call<typeof OPTIONS, null>): Promise<number> {
  const say = (line: string) => void process.stderr.write(`triscope: ${line}\n`);
  const { output, report } = given;
  if (output === '') throw new UsageError('-o needs the name of a new folder');
  if (report === '') throw new UsageError('--report needs a file for the page');
  const { pid } = given;
  if (pid !== undefined && words.length > 0) {
    throw new UsageError('give --pid=N or a command, not both');
  }
  if (pid === undefined && words.length === 0) {
    throw new UsageError(
      'a command is missing; usage: triscope record [options] -- COMMAND…, or --pid=N',
    );
  }
  if (pid !== undefined && !isAlive(pid)) throw new UsageError(`--pid=${pid}: no such process`);
  const signals = given.signals?.split(',').filter((name) => name !== '') ?? [];
  if (signals.length > 0) await checkSignals(signals);
  const task = pid === undefined ? recordedTask() : null;
  // In a job, only the first task prints messages.
  const tells = task === null || task.rank === 0;
  let server: LiveServer | null = null;
  const onFolder = async (folder: string) => {
    if (report !== undefined && tells) checkPage(report, '--report');
    if (given.live !== true || !tells) return;
    const { startServer } = await import('../../live/index.ts');
    server = await startServer({ recordings: [folder] });
    say(`live at ${server.url}`);
  };
  try {
    const result = await recordCommand({
      ...(output !== undefined && { name: output }),
      ...(pid !== undefined && { pid }),
      onFolder,
      ...(task !== null && { task }),
      command: pid === undefined ? words : [nameOf(pid)],
      called: args,
      node: given['no-node'] !== true,
      regions: given['no-regions'] !== true && pid === undefined,
      signals,
      visits: given.visits === true,
      threads: given['no-threads'] !== true,
      every: given.every ?? OPTIONS.every.default,
      say,
    });
    const { path, interrupted, code, stuck } = result;
    if (path !== null && tells) {
      if (task !== null) await othersEnded(dirname(path), task);
      const told = task === null ? path : dirname(path);
      await tellWorst(told, { say, examines: !interrupted, page: report ?? null });
    }
    if (stuck) exitNow(code);
    return code;
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    say(error.message);
    if (error.stuck) exitNow(EXIT.failed);
    return EXIT.failed;
  } finally {
    await (server as LiveServer | null)?.close();
  }
}

export const record = command({
  about:
    'Runs any program and records it: its machine’s counters, the regions that it marks (those of MPI and OpenMP once triscope region build-shims has run), and what each of its processes and threads does. Ends with COMMAND’s exit code. COMMAND keeps the terminal.\n\nPut mpirun after it: record -- mpirun -np 4 ./app makes one recording of all ranks.',
  arguments: [
    {
      name: 'COMMAND',
      help: 'the program and its arguments',
      many: true,
      optional: true,
      names: 'command',
    },
  ],
  options: OPTIONS,
  wraps: true,
  examples: [
    'record -- ./solver input.dat',
    'record -o run7 --live -- mpirun -np 4 ./app',
    'record --pid=4711',
  ],
  run,
});
