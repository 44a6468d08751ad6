/**
 * Chrome trace events, the JSON that Perfetto, chrome://tracing and the Firefox Profiler open. Source: “Trace Event
 * Format” (Duan, Nethercote et al.), the JSON object form.
 *
 * ```
 * {"displayTimeUnit":"ns","otherData":{…},"traceEvents":[
 * {"ph":"M",…},                      names of processes and threads
 * {"ph":"X","ts":1.234,"dur":0.5,…}, a slice: ts and dur in µs
 * …]}
 * ```
 * Times are given in nanoseconds, integers from 0. The caller writes in the order of time.
 */
import { JsonBytes, type Piece, piece } from './json-bytes.ts';

/** Where slices lie: a thread of a process, and the beginnings of what is written there most. */
export interface Lane {
  readonly pid: number;
  readonly tid: number;
  /** Up to the time. */
  readonly event: Piece;
  readonly flowStart: Piece;
  readonly flowEnd: Piece;
  readonly other: Piece;
}

export function laneOf(pid: number, tid: number): Lane {
  const other = `,"pid":${pid},"tid":${tid},"ts":`;
  return {
    pid,
    tid,
    event: piece(`{"ph":"X","cat":"event"${other}`),
    flowStart: piece(`{"ph":"s","cat":"send","name":"send"${other}`),
    flowEnd: piece(`{"ph":"f","bp":"e","cat":"send","name":"send"${other}`),
    other: piece(other),
  };
}

export type ArgValue = number | string | null;

const DURATION = piece(',"dur":');
const NAME = piece(',"name":"LP ');
const FROM = piece('","args":{"from":');
const SEND = piece(',"send":');
const RECEIVE = piece(',"recv":');
const ID = piece(',"id":');
/** Between records: written behind each, held back by `take`, taken back from the last. */
const BETWEEN = 2;
const END = piece('},\n');
const ARGS_END = piece('}},\n');

export class TraceWriter {
  readonly #out = new JsonBytes();
  /** Records written. */
  count = 0;
  /** Of them those that name processes and threads. */
  names = 0;

  /** @param about facts about the whole, for `otherData` */
  constructor(about: Readonly<Record<string, string>>) {
    const other = JSON.stringify(about);
    this.#out.text(`{"displayTimeUnit":"ns","otherData":${other},"traceEvents":[\n`);
  }

  get full(): boolean {
    return this.#out.full;
  }

  /** The bytes since the last call, valid until the next one. Not before there are records. */
  take(): Uint8Array {
    return this.#out.takeHolding();
  }

  /** The last bytes. */
  end(): Uint8Array {
    if (this.count > 0) this.#out.back(BETWEEN);
    this.#out.text('\n]}\n');
    return this.#out.take();
  }

  /** Names a process; those with smaller `order` are shown higher. */
  process(pid: number, name: string, order: number, labels = ''): void {
    this.#metadata(pid, 0, 'process_name', { name });
    this.#metadata(pid, 0, 'process_sort_index', { sort_index: order });
    if (labels !== '') this.#metadata(pid, 0, 'process_labels', { labels });
  }

  thread(pid: number, tid: number, name: string): void {
    this.#metadata(pid, tid, 'thread_name', { name });
    this.#metadata(pid, tid, 'thread_sort_index', { sort_index: tid });
  }

  /** A simulation's event, handled by LP `lp`; `send` and `receive` are virtual times. */
  event(
    lane: Lane,
    lp: number,
    start: number,
    duration: number,
    from: number,
    send: number,
    receive: number,
  ): void {
    const out = this.#out;
    this.count++;
    out.put(lane.event);
    out.micros(start);
    out.put(DURATION);
    out.span(duration);
    out.put(NAME);
    out.integer(lp);
    out.put(FROM);
    out.integer(from);
    out.put(SEND);
    out.decimal(send);
    out.put(RECEIVE);
    out.decimal(receive);
    out.put(ARGS_END);
  }

  /** An arrow's beginning, in the slice of that moment. Each `id` has one beginning and one end. */
  flowStart(lane: Lane, id: number, at: number): void {
    this.#flow(lane.flowStart, id, at);
  }

  /** An arrow's end. */
  flowEnd(lane: Lane, id: number, at: number): void {
    this.#flow(lane.flowEnd, id, at);
  }

  /** A moment on a thread. */
  instant(lane: Lane, category: string, name: string, at: number, args: ArgsOf): void {
    this.#head('i', category, name);
    this.#out.text(',"s":"t"');
    this.#out.put(lane.other);
    this.#out.micros(at);
    this.#args(args);
  }

  /** The values of a counter's series from `at` on. Series without a value are left out. */
  counter(pid: number, name: string, at: number, args: ArgsOf): void {
    this.#head('C', 'counter', name);
    this.#out.text(`,"pid":${pid},"tid":0,"ts":`);
    this.#out.micros(at);
    this.#args(args);
  }

  /** Opens a slice on a thread; those opened later close earlier. */
  begin(lane: Lane, category: string, name: string, at: number): void {
    this.#head('B', category, name);
    this.#out.put(lane.other);
    this.#out.micros(at);
    this.#out.put(END);
  }

  /** Closes the slice opened last. */
  close(lane: Lane, at: number): void {
    this.count++;
    this.#out.text('{"ph":"E"');
    this.#out.put(lane.other);
    this.#out.micros(at);
    this.#out.put(END);
  }

  #flow(head: Piece, id: number, at: number): void {
    const out = this.#out;
    this.count++;
    out.put(head);
    out.micros(at);
    out.put(ID);
    out.integer(id);
    out.put(END);
  }

  #metadata(pid: number, tid: number, name: string, args: ArgsOf): void {
    this.names++;
    this.count++;
    this.#out.text(`{"ph":"M","name":"${name}","pid":${pid},"tid":${tid}`);
    this.#args(args);
  }

  #head(phase: string, category: string, name: string): void {
    this.count++;
    this.#out.text(`{"ph":"${phase}","cat":"${category}","name":`);
    this.#out.string(name);
  }

  #args(args: ArgsOf): void {
    let before = ',"args":{';
    for (const key in args) {
      const value = args[key];
      if (value === null || (typeof value === 'number' && !Number.isFinite(value))) continue;
      this.#out.text(before);
      before = ',';
      this.#out.string(key);
      this.#out.text(':');
      if (typeof value === 'number') this.#out.number(value);
      else this.#out.string(value);
    }
    this.#out.put(before === ',' ? ARGS_END : END);
  }
}

export type ArgsOf = Readonly<Record<string, ArgValue>>;
