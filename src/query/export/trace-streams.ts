/** Streams of trace events from tables of numbers and texts, in the order of time. */
import type {
  ArgValue,
  TraceStream,
  TraceThread,
  TraceWriter,
} from '../../formats/trace-event/index.ts';
import type { VectorColumns } from './vectors.ts';

const nanoseconds = (seconds: number): number => Math.max(0, Math.round(seconds * 1e9));

abstract class RowStream implements TraceStream {
  next: number;
  private readonly times: Float64Array;
  private row = 0;

  /** @param times seconds, ascending */
  constructor(times: Float64Array) {
    this.times = times;
    this.next = times.length > 0 ? nanoseconds(times[0]) : Infinity;
  }

  run(out: TraceWriter, until: number): void {
    while (this.next <= until && !out.full) {
      this.write(out, this.row, this.next);
      const row = ++this.row;
      if (row < this.times.length) this.next = nanoseconds(this.times[row]);
      else {
        this.next = Infinity;
        return;
      }
    }
  }

  protected abstract write(out: TraceWriter, row: number, at: number): void;
}

/** Columns: seconds, pid, the track's name, then a number for each series. */
export class CounterStream extends RowStream {
  private readonly base: number;
  private readonly pid: Uint32Array;
  private readonly names: readonly string[];
  private readonly series: readonly { readonly key: string; readonly values: Float64Array }[];

  constructor(columns: VectorColumns, keys: readonly string[], base: number) {
    super(columns.numbers(0));
    this.base = base;
    this.pid = columns.integers(1);
    this.names = columns.texts(2);
    this.series = keys.map((key, k) => ({ key, values: columns.numbers(3 + k) }));
  }

  protected override write(out: TraceWriter, row: number, at: number): void {
    const args: Record<string, ArgValue> = {};
    let any = false;
    for (const { key, values } of this.series) {
      if (!Number.isFinite(values[row])) continue;
      any = true;
      args[key] = values[row];
    }
    if (any) out.counter(this.base + this.pid[row], this.names[row], at, args);
  }
}

/** Columns: seconds, pid, tid, name, then the arguments: numbers, and the last a text. */
export class InstantStream extends RowStream {
  private readonly category: string;
  private readonly lane: (pid: number, tid: number) => TraceThread;
  private readonly columns: VectorColumns;
  private readonly keys: readonly string[];

  constructor(
    columns: VectorColumns,
    category: string,
    keys: readonly string[],
    lane: (pid: number, tid: number) => TraceThread,
  ) {
    super(columns.numbers(0));
    this.category = category;
    this.columns = columns;
    this.keys = keys;
    this.lane = lane;
  }

  protected override write(out: TraceWriter, row: number, at: number): void {
    const columns = this.columns;
    const args: Record<string, ArgValue> = {};
    this.keys.forEach((key, k) => {
      const isText = k === this.keys.length - 1;
      args[key] = isText ? columns.texts(4 + k)[row] : columns.numbers(4 + k)[row];
    });
    const lane = this.lane(columns.integers(1)[row], columns.integers(2)[row]);
    out.instant(lane, this.category, columns.texts(3)[row], at, args);
  }
}

/** Columns: seconds, pid, tid, the region's name, 1 for an entry and 0 for an exit. Each thread nests its own. */
export class RegionStream extends RowStream {
  private readonly pid: Uint32Array;
  private readonly tid: Uint32Array;
  private readonly names: readonly string[];
  private readonly isEntry: Uint32Array;
  private readonly open = new Map<
    string,
    { readonly lane: TraceThread; readonly names: string[] }
  >();
  private readonly base: number;
  private readonly last: number;
  private readonly rows: number;

  constructor(columns: VectorColumns, base: number) {
    super(columns.numbers(0));
    this.base = base;
    this.pid = columns.integers(1);
    this.tid = columns.integers(2);
    this.names = columns.texts(3);
    this.isEntry = columns.integers(4);
    this.rows = columns.rows;
    this.last = this.rows - 1;
  }

  protected override write(out: TraceWriter, row: number, at: number): void {
    const [pid, tid] = [this.base + this.pid[row], this.tid[row]];
    const key = `${pid} ${tid}`;
    let open = this.open.get(key);
    if (open === undefined) {
      open = { lane: { pid, tid }, names: [] };
      this.open.set(key, open);
    }
    const { lane, names } = open;
    const name = this.names[row];
    if (this.isEntry[row] === 1) {
      out.begin(lane, 'region', name, at);
      names.push(name);
    } else if (names.includes(name)) {
      // An exit that was lost ends with that of the enclosing region.
      for (let inner = ''; inner !== name; ) {
        inner = names.pop() ?? name;
        out.close(lane, at);
      }
    }
    if (row === this.last) this.closeAll(out, at);
  }

  private closeAll(out: TraceWriter, at: number): void {
    for (const { lane, names } of this.open.values()) {
      for (; names.length > 0; names.pop()) out.close(lane, at);
    }
  }
}
