/** Events as rows of tables: slices, instants and counters, by time. */
import type { Schema } from '../../model/metric.ts';
import { column, REAL } from '../../model/schemas/column.ts';
import { arrayFor, Codes, type Part, type RawColumn } from '../part.ts';

const process = column('process', 'label', '', 'same', 'process, by its name or number');
const thread = column('thread', 'label', '', 'same', 'thread, by its name or number');
const what = column('name', 'label', '', 'last', 'what it is called');
const category = column('category', 'label', '', 'last', 'categories, separated by commas');

const SLICE = {
  name: 'trace_slice',
  domain: 'process',
  help: 'what threads of a trace did, and for how long',
  metrics: [
    REAL,
    ...[process, thread, what, category],
    column('duration', 'f64', 's', 'sum', 'how long it took; missing where its end is'),
  ],
} as const satisfies Schema;

const INSTANT = {
  name: 'trace_instant',
  domain: 'process',
  help: 'what happened at one moment in threads of a trace',
  metrics: [REAL, process, thread, what, category],
} as const satisfies Schema;

const COUNTER = {
  name: 'trace_counter',
  domain: 'process',
  help: 'counters of a trace, from one change to the next',
  metrics: [
    REAL,
    ...[process, column('counter', 'label', '', 'same', 'name of the counter')],
    column('series', 'label', '', 'same', 'which of the counter’s values'),
    column('value', 'f64', '', 'last', 'its value'),
  ],
} as const satisfies Schema;

/** One record of the file, of which nothing is known yet. */
type Raw = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null;
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
const seconds = (micros: unknown): number =>
  typeof micros === 'number' || (typeof micros === 'string' && micros.trim() !== '')
    ? Number(micros) / 1e6
    : Number.NaN;

/** Names of processes and threads, which may come after the events that use them. */
class Names {
  private readonly names = new Map<string, string>();

  add({ name, pid, tid, args }: Raw): void {
    const told = isObject(args) ? text(args.name) : '';
    if (told === '') return;
    if (name === 'process_name') this.names.set(text(pid), told);
    if (name === 'thread_name') this.names.set(threadOf(pid, tid), told);
  }

  /** “render 7” for its key: threads may have the same name. */
  of(key: string): string {
    const name = this.names.get(key);
    const number = key.slice(key.indexOf('\n') + 1);
    return name === undefined ? number : `${name} ${number}`.trim();
  }
}

const threadOf = (pid: unknown, tid: unknown): string => `${text(pid)}\n${text(tid)}`;

/** Growing rows of a schema: a list of numbers per column; for texts, their codes. */
class Rows {
  private readonly schema: Schema;
  private readonly codes: readonly (Codes | null)[];
  private readonly columns: readonly number[][];

  constructor(schema: Schema) {
    this.schema = schema;
    this.codes = schema.metrics.map(({ cell }) => (cell === 'label' ? new Codes() : null));
    this.columns = schema.metrics.map(() => []);
  }

  add(...cells: readonly (string | number)[]): void {
    for (const [k, cell] of cells.entries()) {
      this.columns[k].push(typeof cell === 'string' ? (this.codes[k]?.of(cell) ?? 0) : cell);
    }
  }

  /** Ordered by time; null if there are no rows. */
  part(names: Names): Part | null {
    const [times] = this.columns;
    const rows = times.length;
    if (rows === 0) return null;
    const order = Uint32Array.from(times, (_, k) => k).sort((a, b) => times[a] - times[b] || a - b);
    const { metrics } = this.schema;
    const labels: (readonly string[] | null)[] = [];
    const columns = metrics.map(({ cell }, k): RawColumn => {
      const values = this.columns[k];
      const codes = this.codes[k];
      const isNamed = metrics[k] === process || metrics[k] === thread;
      const shown = codes === null ? null : new Codes();
      const codeOf = codes?.labels.map((label) => shown?.of(isNamed ? names.of(label) : label));
      labels.push(shown?.labels ?? null);
      const array = arrayFor(cell, rows);
      for (let n = 0; n < rows; n++) {
        const value = values[order[n]];
        array[n] = codeOf?.[value] ?? value;
      }
      return array;
    });
    return {
      schema: this.schema,
      rows,
      labels,
      span: { from: times[order[0]], to: times[order[rows - 1]], ordered: true },
      kept: true,
      *read(wanted) {
        yield { rows, columns: wanted.map((k) => columns[k]) };
      },
    };
  }
}

/** Takes events in the order of the file. */
export class TraceRows {
  private readonly names = new Names();
  private readonly slices = new Rows(SLICE);
  private readonly instants = new Rows(INSTANT);
  private readonly counters = new Rows(COUNTER);
  /** By thread: slices that have begun. */
  private readonly begun = new Map<string, Raw[]>();
  private readonly others = new Map<string, number>();

  add(event: unknown): void {
    if (!isObject(event)) return;
    const { ph, pid, ts } = event;
    if (ph === 'M') {
      this.names.add(event);
      return;
    }
    const at = seconds(ts);
    const key = threadOf(pid, event.tid);
    if (!Number.isFinite(at)) this.other('without a time');
    else if (ph === 'X') this.slice(event, seconds(event.dur));
    else if (ph === 'B') {
      const open = this.begun.get(key);
      if (open === undefined) this.begun.set(key, [event]);
      else open.push(event);
    } else if (ph === 'E') {
      const from = this.begun.get(key)?.pop();
      if (from !== undefined) this.slice(from, at - seconds(from.ts));
    } else if (ph === 'i' || ph === 'I') {
      this.instants.add(at, text(pid), key, text(event.name), text(event.cat));
    } else if (ph === 'C') {
      for (const [series, value] of Object.entries(isObject(event.args) ? event.args : {})) {
        const number = typeof value === 'number' ? value : Number.NaN;
        this.counters.add(at, text(pid), text(event.name), series, number);
      }
    } else this.other(/^[!-~]$/.test(text(ph)) ? `phase ${text(ph)}` : 'without a phase');
  }

  /** An event was lost: it may have been the end of a slice that has begun. */
  lost(): void {
    for (const open of this.begun.values()) {
      for (const event of open) this.slice(event, Number.NaN);
    }
    this.begun.clear();
  }

  /** A slice that ends before it begins has an unknown length. */
  private slice({ ts, pid, tid, name, cat }: Raw, duration: number): void {
    const length = duration >= 0 ? duration : Number.NaN;
    this.slices.add(seconds(ts), text(pid), threadOf(pid, tid), text(name), text(cat), length);
  }

  private other(kind: string): void {
    this.others.set(kind, (this.others.get(kind) ?? 0) + 1);
  }

  /** Its tables, and the number of events that are in none of them, by kind. No further events may come. */
  end(): { readonly parts: readonly Part[]; readonly others: ReadonlyMap<string, number> } {
    this.lost();
    const parts = [this.slices, this.instants, this.counters].flatMap(
      (rows) => rows.part(this.names) ?? [],
    );
    return { parts, others: this.others };
  }
}
