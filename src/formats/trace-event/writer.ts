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
/** Where slices lie: a thread of a process. */
export interface TraceThread {
  readonly pid: number;
  readonly tid: number;
}

export type ArgValue = number | string | null;

/** Characters after which a block is full. */
const FULL = 1 << 19;
const LONGEST_TEXT = 1 << 12;

/** Nanoseconds as microseconds. */
function micros(nanoseconds: number): string {
  const whole = Math.floor(nanoseconds / 1000);
  const rest = nanoseconds - whole * 1000;
  return rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(3, '0')}`;
}

const placeOf = ({ pid, tid }: TraceThread, at: number): string =>
  `,"pid":${pid},"tid":${tid},"ts":${micros(at)}`;

const textOf = (text: string): string => JSON.stringify(text.slice(0, LONGEST_TEXT));

/** Writes all records but those of traced events, which `blockWriter` writes. */
export class TraceWriter {
  private json = '';
  /** Records written. */
  count = 0;
  /** Of them those that name processes and threads. */
  names = 0;

  /** @param about facts about the whole, for `otherData` */
  constructor(about: Readonly<Record<string, string>>) {
    const other = JSON.stringify(about);
    this.json = `{"displayTimeUnit":"ns","otherData":${other},"traceEvents":[\n`;
  }

  /** Whether it is time to `take`. */
  get full(): boolean {
    return this.json.length >= FULL;
  }

  /** Whether there is nothing to take. */
  get empty(): boolean {
    return this.json === '';
  }

  /** What was written since the last call. */
  take(): string {
    const json = this.json;
    this.json = '';
    return json;
  }

  /** After all records. */
  end(): string {
    return `${this.take()}\n]}\n`;
  }

  /** Names a process; those with smaller `order` are shown higher. */
  process(pid: number, name: string, order: number, labels = ''): void {
    this.metadata(pid, 0, 'process_name', { name });
    this.metadata(pid, 0, 'process_sort_index', { sort_index: order });
    if (labels !== '') this.metadata(pid, 0, 'process_labels', { labels });
  }

  thread(pid: number, tid: number, name: string): void {
    this.metadata(pid, tid, 'thread_name', { name });
    this.metadata(pid, tid, 'thread_sort_index', { sort_index: tid });
  }

  /** A moment on a thread. */
  instant(lane: TraceThread, category: string, name: string, at: number, args: ArgsOf): void {
    this.named('i', category, name, `,"s":"t"${placeOf(lane, at)}${argsOf(args)}`);
  }

  /** The values of a counter's series from `at` on. Series without a value are left out. */
  counter(pid: number, name: string, at: number, args: ArgsOf): void {
    this.named('C', 'counter', name, placeOf({ pid, tid: 0 }, at) + argsOf(args));
  }

  /** Opens a slice on a thread; slices that were opened later are closed earlier. */
  begin(lane: TraceThread, category: string, name: string, at: number): void {
    this.named('B', category, name, placeOf(lane, at));
  }

  /** Closes the slice opened last. */
  close(lane: TraceThread, at: number): void {
    this.record(`"ph":"E"${placeOf(lane, at)}`);
  }

  private metadata(pid: number, tid: number, name: string, args: ArgsOf): void {
    this.names++;
    this.record(`"ph":"M","name":"${name}","pid":${pid},"tid":${tid}${argsOf(args)}`);
  }

  private named(phase: string, category: string, name: string, rest: string): void {
    this.record(`"ph":"${phase}","cat":"${category}","name":${textOf(name)}${rest}`);
  }

  private record(json: string): void {
    this.json += `${this.count++ === 0 ? '' : ',\n'}{${json}}`;
  }
}

/** Arguments without a value are left out. */
function argsOf(args: ArgsOf): string {
  let json = '';
  for (const key in args) {
    const value = args[key];
    if (value === null || (typeof value === 'number' && !Number.isFinite(value))) continue;
    json += `${json === '' ? '' : ','}${textOf(key)}:${typeof value === 'number' ? value : textOf(value)}`;
  }
  return json === '' ? '' : `,"args":{${json}}`;
}

type ArgsOf = Readonly<Record<string, ArgValue>>;
