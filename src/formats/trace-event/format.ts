/**
 * Trace events as Chrome, PyTorch and many tracers write them, in JSON: slices, counters and instants as tables. Flows, objects
 * and asynchronous slices are counted and not read. Source: “Trace Event Format”, Google, 2016.
 */
import type { Damage, Detection, FileInfo, FileSource, Format, PassOptions } from '../format.ts';
import { FormatError } from '../format.ts';
import type { OpenFile } from '../part.ts';
import { endOf } from '../source.ts';
import { TraceRows } from './rows.ts';
import { scanEvents } from './scan-events.ts';

const ERA = 'Trace Event Format (JSON)';
/** Bytes at the beginning that decide what the file is, and within which its events must begin. */
const HEAD_BYTES = 1 << 16;
/** Most places that are reported one by one. */
const TOLD = 20;

function headOf(source: FileSource): Uint8Array {
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  return head.subarray(0, source.read(0, head));
}

/** The end of an object as tracers write it: what follows the list may be anything, and is not read. */
const ENDS = /\}\s*$/;
const TAIL = 64;

function open(source: FileSource, { take, damage }: PassOptions = {}): OpenFile {
  const head = Buffer.from(headOf(source)).toString('latin1');
  const found = place(head);
  if (found === null) {
    const what = 'expected trace events in JSON';
    throw new FormatError({ path: source.path, offset: 0, what, skipped: 0 });
  }
  const rows = new TraceRows();
  const damages: Damage[] = [];
  let lost = 0;
  const tell = (offset: number, what: string, skipped: number) =>
    damages.push({ path: source.path, offset, what, skipped });
  const { cut, to } = scanEvents(source, found.from, {
    event: (event) => rows.add(event),
    lost: (at) => {
      rows.lost();
      if (++lost <= TOLD) tell(at, 'an event that is no JSON, which was passed over', 1);
    },
  });
  if (lost > TOLD) tell(-1, `${lost - TOLD} more events that are no JSON were passed over`, 1);
  const isOpen =
    cut === null && found.isObject && !ENDS.test(Buffer.from(endOf(source, TAIL)).toString());
  const end = isOpen ? to : cut;
  if (end !== null) tell(end, 'its JSON breaks off here; what came before was read', 0);
  const { parts, others } = rows.end();
  for (const part of take === undefined ? [] : parts) {
    for (const all of part.read(part.schema.metrics.map((_, k) => k))) take?.(part, all);
  }
  for (const one of damages) damage?.(one);
  const suspect = damages.map(({ offset, what }) => ({
    where: offset < 0 ? '' : `byte ${offset}`,
    what,
  }));
  const times = parts.flatMap(({ span }) => span ?? []);
  const info = (): FileInfo => ({
    ...{ path: source.path, format: 'trace-event', bytes: source.size, suspect },
    ...{ era: ERA, because: found.because },
    records: {
      ...Object.fromEntries(parts.map(({ schema, rows }) => [schema.name.slice(6), rows])),
      ...Object.fromEntries(others),
    },
    entities: {},
    from: times.length === 0 ? null : { real_time: Math.min(...times.map(({ from }) => from)) },
    to: times.length === 0 ? null : { real_time: Math.max(...times.map(({ to }) => to)) },
    damaged: damages.length > 0,
  });
  return { parts, suspect, zero: null, info };
}

interface Place {
  /** The byte after the bracket that opens the list. */
  readonly from: number;
  readonly isObject: boolean;
  readonly because: string;
}

const LIST = /^(\xef\xbb\xbf)?\s*\[/;
const OBJECT = /^(\xef\xbb\xbf)?\s*\{/;
const EVENTS = /"traceEvents"\s*:\s*\[/;

/** Where its events begin; null if it has none. */
function place(start: string): Place | null {
  const list = LIST.exec(start);
  if (list !== null) {
    if (!/"ph"\s*:\s*"/.test(start) || !/"(ts|pid)"\s*:/.test(start)) return null;
    const because = 'it is a list of events with phases (ph)';
    return { from: list[0].length, isObject: false, because };
  }
  const events = OBJECT.test(start) ? EVENTS.exec(start) : null;
  if (events === null) return null;
  const from = events.index + events[0].length;
  return { from, isObject: true, because: 'it has a list traceEvents' };
}

function detect(head: Uint8Array): Detection | null {
  const found = place(Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1'));
  return found && { confidence: 0.95, because: found.because, era: ERA };
}

/** Chrome's trace events in JSON. */
export const TRACE_EVENT = {
  name: 'trace-event',
  help: 'trace events in JSON, of Chrome, PyTorch, Perfetto’s converters and many tracers',
  detect,
  open,
} satisfies Format;
