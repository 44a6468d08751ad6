/** `triscope sim verify MODEL [options]`: the same result under every synchroniser, or where not. */
import { flag } from '../../model/option.ts';
import { type VerifyRow, verify } from '../../sim/verify.ts';
import { EXIT } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import { readRunCommand } from '../run-command.ts';
import { painter, table } from '../table.ts';

const USAGE = `usage: triscope sim verify MODEL [options]

Runs MODEL under every synchroniser, with several numbers of PEs, KPs and batches, and compares what is
committed and the states at the end with the sequential run's. Options are those of triscope sim run;
--pes sizes the model. Exit code 1 and the place of the first difference where there is one.`;

const OPTIONS = { json: flag(false, 'print one JSON object') };

/** Checks it. Returns the exit code. @throws what a user did wrong, or the sequential run */
export async function simVerify(args: readonly string[]): Promise<number> {
  const command = await readRunCommand(args, USAGE, { title: 'Output', options: OPTIONS });
  if (command === null) return 0;
  const { loaded, settings, own } = command;
  const json = own.get('json') === true;
  const interrupt = onInterrupt();
  const progress = new ProgressLine(0);
  try {
    const rows = await verify(loaded, settings, {
      signal: interrupt.signal,
      onCase: (name, index, count) => progress.show(`${index + 1}/${count}  ${name} …`),
      ...(json && { console: process.stderr }),
    });
    progress.clear();
    const complete = !interrupt.signal.aborted;
    const same = rows.every((row) => row.same);
    const model = loaded.model.name;
    process.stdout.write(
      json
        ? `${JSON.stringify({ model, same, complete, runs: rows }, null, 2)}\n`
        : text(model, rows, same, complete),
    );
    if (!complete) return EXIT.interrupted;
    return same ? 0 : EXIT.failed;
  } finally {
    progress.clear();
    interrupt.release();
    loaded.dispose();
  }
}

function text(model: string, rows: readonly VerifyRow[], same: boolean, complete: boolean): string {
  const { good, bad } = painter(process.stdout);
  const or = (value: number | string | null) => (value === null ? '-' : String(value));
  const cells = rows.map((row) => [
    row.name,
    or(row.netEvents),
    or(row.rollbacks),
    row.wallSeconds === null ? '-' : row.wallSeconds.toFixed(3),
    or(row.eventDigest),
    or(row.stateDigest),
    row.same ? 'same' : row.error === undefined ? 'DIFFERENT' : 'FAILED',
  ]);
  const header = ['', 'events', 'rollbacks', 'seconds', 'event digest', 'state digest', ''];
  const [head, ...lines] = table(header, cells);
  const painted = lines.map((line, k) => (rows[k].same ? line : bad(line)));
  const reasons = rows
    .filter((row) => (row.error ?? row.difference) !== undefined)
    .map((row) => bad(`${row.name}: ${row.error ?? row.difference}`));
  const differing = rows.filter((row) => !row.same).length;
  const last = !complete
    ? `${model}: interrupted after ${rows.length} runs`
    : same
      ? good(`${model}: all ${rows.length} runs commit the same events and end in the same state`)
      : bad(`${model}: ${differing} of ${rows.length} runs differ from the sequential one`);
  return `${[head, ...painted, ...reasons, last].join('\n')}\n`;
}
