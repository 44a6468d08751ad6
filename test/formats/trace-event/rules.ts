/**
 * The rules of the trace-event format, as its document states them (“Trace Event Format”, Duan, Nethercote et al.) and
 * Perfetto's importer expects them. Written without the writer's code.
 */

export interface TraceEvent {
  readonly ph: string;
  readonly name?: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: number;
  readonly bp?: string;
  readonly s?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface Trace {
  readonly displayTimeUnit: string;
  readonly otherData: Readonly<Record<string, string>>;
  readonly traceEvents: readonly TraceEvent[];
}

const METADATA = [
  ...['process_name', 'process_labels', 'process_sort_index'],
  ...['thread_name', 'thread_sort_index'],
];
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isTime = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
/** ns: times in µs have three decimals. */
const ns = (micros: number | undefined) => Math.round((micros ?? Number.NaN) * 1000);

/** What is wrong with a trace; at most the first 20. */
export function faults({ displayTimeUnit, traceEvents }: Trace): string[] {
  const found: string[] = [];
  const wrong = (what: string, event?: TraceEvent) => {
    if (found.length < 20)
      found.push(event === undefined ? what : `${what}: ${JSON.stringify(event)}`);
  };
  if (!['ms', 'ns'].includes(displayTimeUnit)) wrong(`displayTimeUnit ${displayTimeUnit}`);
  const named = new Set<string>();
  const starts = new Map<number, TraceEvent>();
  const ends = new Map<number, TraceEvent>();
  const slices = new Map<string, TraceEvent[]>();
  const open = new Map<string, string[]>();
  let last = 0;
  for (const event of traceEvents) {
    const { ph, pid, tid, ts } = event;
    if (!isCount(pid) || !isCount(tid)) wrong('pid and tid are integers', event);
    const lane = `${pid} ${tid}`;
    if (ph === 'M') {
      if (!METADATA.includes(event.name ?? '')) wrong('unknown metadata', event);
      if (event.args === undefined) wrong('metadata have args', event);
      if (event.name === 'process_name') named.add(String(pid));
      if (event.name === 'thread_name') named.add(lane);
      continue;
    }
    if (!isTime(ts)) wrong('ts is a time', event);
    if ((ts as number) < last) wrong('sorted by ts', event);
    last = ts as number;
    if (ph !== 'E' && typeof event.name !== 'string') wrong('has a name', event);
    if (!named.has(String(pid))) wrong('its process is named before', event);
    switch (ph) {
      case 'X':
        if (!isTime(event.dur)) wrong('dur is a time', event);
        if (!named.has(lane)) wrong('its thread is named before', event);
        slices.set(lane, [...(slices.get(lane)?.slice(-1) ?? []), event]);
        checkNesting(slices.get(lane) ?? [], wrong);
        break;
      case 's':
      case 'f': {
        const these = ph === 's' ? starts : ends;
        if (!isCount(event.id)) wrong('a flow has an id', event);
        if (these.has(event.id as number)) wrong('a flow begins and ends once', event);
        these.set(event.id as number, event);
        if (ph === 'f' && event.bp !== 'e') wrong('binds to the enclosing slice', event);
        const around = slices.get(lane)?.at(-1);
        const inside =
          around !== undefined &&
          ns(ts) >= ns(around.ts) &&
          ns(ts) <= ns(around.ts) + ns(around.dur);
        if (!inside) wrong('a flow lies in a slice of its thread', event);
        break;
      }
      case 'i':
        if (!['g', 'p', 't'].includes(event.s ?? '')) wrong('an instant has a scope', event);
        break;
      case 'C': {
        const values = Object.values(event.args ?? {});
        const isNumbers = values.every((one) => typeof one === 'number');
        if (values.length === 0 || !isNumbers) wrong('a counter has numbers', event);
        break;
      }
      case 'B':
        open.set(lane, [...(open.get(lane) ?? []), event.name ?? '']);
        break;
      case 'E':
        if ((open.get(lane)?.length ?? 0) === 0) wrong('closes what is open', event);
        open.get(lane)?.pop();
        break;
      default:
        wrong('a known ph', event);
    }
  }
  for (const [lane, names] of open) if (names.length > 0) wrong(`left open on ${lane}: ${names}`);
  for (const [id, end] of ends) {
    const start = starts.get(id);
    if (start === undefined) wrong('a flow that ends begins', end);
    else if ((start.ts as number) > (end.ts as number)) wrong('no flow goes back', end);
    else if (start.cat !== end.cat || start.name !== end.name) wrong('a flow has one name', end);
  }
  for (const [id, start] of starts) if (!ends.has(id)) wrong('a flow that begins ends', start);
  return found;
}

/** Slices of a thread lie apart or inside one another; ours lie apart. */
function checkNesting(
  [before, event]: readonly TraceEvent[],
  wrong: (what: string, event: TraceEvent) => void,
): void {
  if (event === undefined) return;
  if (ns(before.ts) + ns(before.dur) > ns(event.ts))
    wrong('slices of a thread do not overlap', event);
}
