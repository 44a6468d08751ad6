/** Describes the bytes of a layout's files as a text for people, from the tables that readers use. */
import type { Metric } from '../../model/metric.ts';
import { ROSS_EVENT, ROSS_KP, ROSS_LP, ROSS_MODEL, ROSS_PE } from '../../model/schemas/ross.ts';
import { EVENT, KP, LP, MODEL, PE, VT_MODEL, WIDE_LP } from './read/chunk.ts';
import { EVENT_KINDS, type FieldAt, type FileCell, FRAMED_KINDS } from './read/layouts.ts';
import {
  KP_PART,
  LP_PART,
  type PackedForm,
  packedKinds,
  packedPlaces,
} from './read/packed-forms.ts';
import {
  OLD_MODEL_HEAD_BYTES,
  OLD_MODEL_KINDS,
  oldEventFields,
  oldEventHead,
} from './read/walk-old.ts';
import { isPacked, type RossLayout } from './write/layout.ts';

interface DescribedRun {
  readonly layout: RossLayout;
  readonly prefix: string;
  /** KPs of each PE. */
  readonly kps: number;
  /** Whether samples hold KPs and LPs. */
  readonly detailed: boolean;
  /** Which files exist. */
  readonly gvt: boolean;
  readonly rt: boolean;
  readonly vt: boolean;
  readonly model: boolean;
  /** Which events are traced: 0 none, 1 all, 2 those that cause rollbacks, 3 those committed. */
  readonly trace: number;
}

const BYTES: Readonly<Record<FileCell, number>> = {
  u16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  f64: 8,
  id64: 8,
};

const HELP = new Map<string, Metric>(
  [ROSS_EVENT, ROSS_MODEL, ROSS_LP, ROSS_KP, ROSS_PE]
    .flatMap(({ metrics }): readonly Metric[] => metrics)
    .map((metric) => [metric.key, metric]),
);

/** Explanations of metrics that the schemas do not give. */
const OWN_HELP: Readonly<Record<string, string>> = {
  net_events: 'events processed less events rolled back',
  duration: 'time in the event’s handler [s]; not a number: not measured',
  stats_type: 'why it was taken: 1 at a GVT, 2 in real time',
  model_size: 'bytes of the model that follow',
  model_data_size: 'bytes of the model that follow',
  kind: 'what follows: 0 a PE, 1 a KP, 2 an LP, 3 a model’s',
  size: 'bytes after these 24, without the model’s',
};

function helpOf(key: string): string {
  const metric = HELP.get(key);
  if (metric === undefined) return OWN_HELP[key] ?? '';
  const { help, unit, estimate } = metric;
  // Names in braces are what is counted, not units.
  const plain = unit === '' || unit.startsWith('{') ? '' : ` [${unit}]`;
  return `${help}${plain}${estimate ? ' (estimate: sampled)' : ''}`;
}

const line = (at: number, type: string, name: string, help: string) =>
  `  ${String(at).padStart(5)}  ${type.padEnd(4)}  ${name.padEnd(24)} ${help}`.trimEnd();

/** Fields in order, and between them the bytes that hold nothing. `bytes`: length of the record, or of its part. */
function fieldLines(fields: readonly FieldAt[], bytes: number, from = 0): string[] {
  const lines: string[] = [];
  let next = from;
  for (const { key, cell, at } of [...fields].sort((a, b) => a.at - b.at)) {
    if (at > next) lines.push(line(next, '', '-', `${at - next} bytes that hold nothing`));
    lines.push(line(at, cell === 'id64' ? 'u64' : cell, key, helpOf(key)));
    next = at + BYTES[cell];
  }
  if (bytes > next) lines.push(line(next, '', '-', `${bytes - next} bytes that hold nothing`));
  return lines;
}

/** In packed records only, it is a change. */
const packedHelp = (lines: readonly string[]) =>
  lines.map((text) =>
    text.replace(/( num_gvts +).*/, '$1GVT computations since the sample before'),
  );

const stored = (fields: readonly FieldAt[]) =>
  fields.filter(({ from }) => from === 'record' || from === 'part');

const FRAME: readonly FieldAt[] = [
  { key: 'kind', cell: 'i32', at: 0, from: 'record' },
  { key: 'size', cell: 'i32', at: 4, from: 'record' },
];

function framedLines({ layout, gvt, rt, vt, model, trace, prefix }: DescribedRun): string[] {
  const sample = (
    title: string,
    kind: number,
    bytes: number,
    frame: readonly FieldAt[] = FRAME,
  ) => [
    `${title}, ${bytes} bytes:`,
    ...fieldLines([...frame, ...(FRAMED_KINDS[kind]?.fields ?? [])], bytes),
    '',
  ];
  const wide = layout === 'ross-8.1';
  const files = [gvt && 'gvt', rt && 'rt', vt && 'analysis-lps'].filter((file) => file !== false);
  return [
    ...(files.length === 0
      ? []
      : [
          `${files.map((file) => `${prefix}-${file}.bin`).join(', ')}: one sample after the other.`,
          '',
          ...sample('a PE', PE, 128),
          ...sample('a KP', KP, 68),
          ...sample('an LP', wide ? WIDE_LP : LP, wide ? 72 : 60),
        ]),
    ...(model ? [`${prefix}-model.bin:`, '', ...sample('a model’s sample', MODEL, 48)] : []),
    ...(vt ? sample(`a model’s sample in ${prefix}-analysis-lps.bin`, VT_MODEL, 48, []) : []),
    ...(trace > 0
      ? [`${prefix}-evtrace.bin:`, '', 'an event, 24 bytes:']
          .concat(fieldLines(EVENT_KINDS[EVENT]?.fields ?? [], 24))
          .concat('')
      : []),
  ];
}

function pointLines(run: DescribedRun, mode: 'gvt' | 'rt'): string[] {
  const form: PackedForm = { mode, realTime: run.layout === 'ross-2017', detailed: run.detailed };
  const [places, pe] = packedPlaces(form, run.kps);
  const kinds = packedKinds(form, places, pe);
  const ahead = places.ahead < 0 ? [] : [4 * run.kps];
  const parts = (kind: number) =>
    stored(kinds[kind]?.fields ?? []).filter((f) => f.from === 'part');
  const aheadLine = ahead.map((bytes) =>
    line(places.ahead, 'f32', 'time_ahead_gvt', `of each of the ${run.kps} KPs, ${bytes} bytes`),
  );
  const own = fieldLines(
    pe.filter(({ at }) => ahead.length === 0 || at < places.ahead),
    0,
  );
  const rest = ahead.length === 0 ? [] : pe.filter(({ at }) => at > places.ahead);
  return [
    `${run.prefix}-${mode}.bin: a record is one sampling point of a PE, ${places.end} bytes${run.detailed ? ', and its KPs and LPs' : ''}:`,
    ...own,
    ...aheadLine,
    ...(rest.length === 0 ? [] : packedHelp(fieldLines(rest, 0, places.times))),
    ...(run.detailed
      ? [
          `then for each of its ${run.kps} KPs ${KP_PART} bytes:`,
          ...fieldLines(parts(KP), KP_PART),
          `then for each of its LPs ${LP_PART} bytes:`,
          ...fieldLines(parts(LP), LP_PART),
        ]
      : []),
    '',
  ];
}

function packedLines(run: DescribedRun): string[] {
  const { gvt, rt, model, trace, prefix } = run;
  const form = { send: true, real: true, duration: trace === 1 };
  const head = oldEventHead(form);
  return [
    ...(gvt ? pointLines(run, 'gvt') : []),
    ...(rt ? pointLines(run, 'rt') : []),
    ...(model
      ? [
          `${prefix}-model.bin: a model’s sample, ${OLD_MODEL_HEAD_BYTES} bytes:`,
          ...fieldLines(stored(OLD_MODEL_KINDS[MODEL]?.fields ?? []), OLD_MODEL_HEAD_BYTES),
          '',
        ]
      : []),
    ...(trace > 0
      ? [
          `${prefix}-evtrace.bin: an event, ${head} bytes:`,
          ...fieldLines(stored(oldEventFields(form)), head),
          '',
        ]
      : []),
  ];
}

/** Lines that say what the bytes of a run's files are. */
export function layoutLines(run: DescribedRun): string[] {
  const packed = isPacked(run.layout);
  return [
    `## BYTES OF THE FILES: LAYOUT ${run.layout}`,
    '',
    'Without padding, in the byte order of BYTE_ORDER above; a line is byte, type, field.',
    packed
      ? 'Nothing in the files says how long a record is. The model’s bytes follow each record, as listed below.'
      : 'The model’s bytes follow each record that says how many there are, as listed below.',
    '',
    ...(packed ? packedLines(run) : framedLines(run)),
  ];
}
