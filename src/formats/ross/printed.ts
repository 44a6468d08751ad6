/**
 * What ROSS prints of a run: its options as they took effect, and its totals.
 *
 * ```
 * ROSS Core Configuration:
 *     Total KPs                    [Nodes (2) x KPs (16)] 32
 *     : Running Time = 5.3456 seconds
 * TW Library Statistics:
 *     Efficiency                   87.20 %
 * ```
 * Lines of the model, of mpirun and of other ranks stand between them.
 */
import type { Batch, Schema } from '../../model/metric.ts';
import { RowBatch } from '../../model/rows.ts';
import { column } from '../../model/schemas/column.ts';
import { SIM_RUN } from '../../model/schemas/sim.ts';

export interface PrintedLine {
  /** Heading above it, without its colon. */
  readonly section: string;
  readonly name: string;
  /** As it was printed. */
  readonly text: string;
  /** The last number of the text; null where there is none. */
  readonly value: number | null;
}

const label = { behaviour: 'label' } as const;

/** The printed lines as a table. */
const ROSS_PRINTED = {
  name: 'ross_printed',
  domain: 'recording',
  help: 'what ROSS printed of its run: options as they took effect, and totals',
  metrics: [
    column('section', 'label', '', 'same', 'heading', label),
    column('name', 'label', '', 'same', 'name', label),
    column('text', 'label', '', 'same', 'value as it was printed', label),
    column('value', 'f64', '', 'last', 'its number'),
  ],
} as const satisfies Schema;

/** Names are padded to this width after a tab. */
const WIDTH = 50;

/** Whether a text has what ROSS prints at its start. */
export const isRossText = (text: string): boolean =>
  /^(ROSS Version: |ROSS (Core )?Configuration:? *$)/m.test(text);

function numberIn(text: string): number | null {
  const found = text.match(/-?\d+(\.\d+)?(e[+-]?\d+)?/gi);
  const last = found === null ? Number.NaN : Number(found[found.length - 1]);
  return Number.isFinite(last) ? last : null;
}

/** The lines of a run's text that name a value. */
export function printedLines(text: string): PrintedLine[] {
  const lines: PrintedLine[] = [];
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    const heading = /^(?:TW|ROSS|Separate|Model|Analysis)\b[^\t]*?(?:: *|: [A-Z][\w ]*)$/.exec(
      line,
    );
    if (heading !== null) section = line.replace(/:.*$/, '').trim();
    const version = /^ROSS Version: (.+)$/.exec(line);
    if (version !== null) {
      lines.push({ section: 'ROSS', name: 'Version', text: version[1], value: null });
    }
    const time = /^\t: Running Time = ([\d.]+) seconds/.exec(line);
    if (time !== null) {
      const [, value] = time;
      lines.push({ section: 'ROSS', name: 'Running Time', text: value, value: Number(value) });
      continue;
    }
    if (!line.startsWith('\t') || line.length <= WIDTH || line[1 + WIDTH] !== ' ') continue;
    const name = line.slice(1, 1 + WIDTH).trim();
    const value = line.slice(1 + WIDTH).trim();
    if (name === '' || value === '') continue;
    lines.push({ section, name, text: value, value: numberIn(value) });
  }
  return lines;
}

/** ROSS's words for what its scheduler is, by what it says at its start. */
const SYNCHRONISERS: readonly (readonly [RegExp, string])[] = [
  [/START SEQUENTIAL SIMULATION/, 'sequential'],
  [/START PARALLEL CONSERVATIVE/, 'conservative'],
  [/START PARALLEL OPTIMISTIC.*REAL TIME/, 'optimistic-realtime'],
  [/START PARALLEL OPTIMISTIC/, 'optimistic'],
  [/START OPTIMISTIC DEBUG/, 'optimistic-debug'],
  [/START SEQUENTIAL ROLLBACK/, 'rollback-check'],
];

/** The printed lines as rows. */
export function printedBatch(lines: readonly PrintedLine[]): Batch | null {
  const rows = new RowBatch(ROSS_PRINTED);
  for (const { section, name, text, value } of lines)
    rows.add([section, name, text, value ?? Number.NaN]);
  return rows.take();
}

export interface PrintedRun {
  readonly text: string;
  readonly lines: readonly PrintedLine[];
  /** Words of the command. */
  readonly command: readonly string[];
  /** Name of the program. */
  readonly program: string;
  /** CPUs that its processes may run on together. */
  readonly cpus: number;
  /** Seconds on the recording's timeline at which it ended. */
  readonly at: number;
}

/** An option's number in the words of a command; NaN where it is not given. */
export function optionIn(command: readonly string[], name: string): number {
  const own = command.findLastIndex(
    (word) => word === `--${name}` || word.startsWith(`--${name}=`),
  );
  if (own < 0) return Number.NaN;
  const text = command[own].split('=')[1] ?? command[own + 1] ?? '';
  return text === '' ? Number.NaN : Number(text);
}

/** The run as a row of `sim_run`, as runs of this simulator are; null where ROSS did not print its totals. */
export function printedRunBatch({ text, lines, ...run }: PrintedRun): Batch | null {
  const of = (name: string) => lines.find((one) => one.name === name)?.value ?? Number.NaN;
  const kps = lines.find((one) => one.name === 'Total KPs');
  const nkp = Number(/x KPs \((\d+)\)/.exec(kps?.text ?? '')?.[1] ?? Number.NaN);
  const counts = [of('Total PEs'), run.cpus, of('Total LPs'), nkp, of('Batch Size')];
  const rest = [of('GVT Interval'), of('Total GVT Computations')];
  if (![...counts, ...rest].every((value) => Number.isInteger(value))) return null;
  const synchroniser = SYNCHRONISERS.find(([said]) => said.test(text))?.[1] ?? '';
  const rows = new RowBatch(SIM_RUN);
  rows.add([
    ...[run.at, run.program, synchroniser, ...counts, rest[0], of('Simulation End Time')],
    ...[optionIn(run.command, 'cons-lookahead'), optionIn(run.command, 'max-opt-lookahead')],
    ...[Number.NaN, of('Event struct with Model'), of('Running Time'), rest[1], Number.NaN],
  ]);
  return rows.take();
}
