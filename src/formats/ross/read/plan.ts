/** The columns that a file's records make: metrics of the schema that the file has, and fields that only its era has. */
import type { Cell, Metric, Schema } from '../../../model/metric.ts';
import { ROSS_EVENT, ROSS_KP, ROSS_LP, ROSS_MODEL, ROSS_PE } from '../../../model/schemas/ross.ts';
import type { PayloadColumn, PayloadLayout, PayloadType } from '../../payload.ts';
import { EVENT, KP, LP, MODEL, PE, VT_MODEL, WIDE_LP } from './chunk.ts';
import type { FieldAt, KindLayout, RossFileLayout } from './layouts.ts';

/** Where a column's values come from. */
export type ColumnSource =
  | { readonly is: 'field'; readonly field: FieldAt }
  /** The same text in every row. */
  | { readonly is: 'text'; readonly text: string }
  /** The sampling mode, which a model's sample gives as a number. */
  | { readonly is: 'mode'; readonly field: FieldAt }
  | { readonly is: 'payload'; readonly column: PayloadColumn; readonly head: number }
  | { readonly is: 'hex'; readonly head: number };

export interface KindPlan {
  readonly kind: number;
  readonly schema: Schema;
  /** One for each of the schema's metrics. */
  readonly sources: readonly ColumnSource[];
  /** Which records of the kind: those whose model's bytes have the right number, or the others. Null: all. */
  readonly wants: { readonly bytes: number; readonly fit: boolean } | null;
}

const SCHEMAS: Readonly<Record<number, Schema>> = {
  [PE]: ROSS_PE,
  [KP]: ROSS_KP,
  [LP]: ROSS_LP,
  [WIDE_LP]: ROSS_LP,
  [MODEL]: ROSS_MODEL,
  [VT_MODEL]: ROSS_MODEL,
  [EVENT]: ROSS_EVENT,
};

const metric = (
  key: string,
  cell: Cell,
  unit: string,
  help: string,
  form: Metric['form'] = 'total',
): Metric => ({
  key,
  cell,
  kind: form === 'change' ? 'event' : 'gauge',
  behaviour: cell === 'label' ? 'label' : 'variable',
  form,
  unit,
  over: form === 'change' ? 'sum' : 'last',
  help,
});

/** Fields that only some eras have. */
const EXTRAS: readonly Metric[] = [
  metric('net_events', 'i32', '{event}', 'events processed less events rolled back', 'change'),
  metric('duration', 'f64', 's', 'time in the event’s handler'),
  metric('model_size', 'u32', 'B', 'bytes of the model’s sample'),
  metric('model_data_size', 'u32', 'B', 'bytes that the model adds to the event'),
];

const PAYLOAD_CELLS: Readonly<Record<PayloadType, Cell>> = {
  u8: 'u32',
  u16: 'u32',
  u32: 'u32',
  i32: 'i32',
  u64: 'u64',
  f32: 'f32',
  f64: 'f64',
};

function baseColumn(
  { key }: Metric,
  kind: number,
  fields: ReadonlyMap<string, FieldAt>,
  mode: string | null,
): ColumnSource | null {
  const field = fields.get(key);
  if (field !== undefined) return { is: 'field', field };
  // An engine sample's virtual time is GVT.
  const engine = kind === PE || kind === KP || kind === LP || kind === WIDE_LP;
  const virtual = fields.get('virtual_time');
  if (key === 'gvt' && engine && virtual !== undefined) return { is: 'field', field: virtual };
  if (key !== 'mode') return null;
  const type = fields.get('stats_type');
  if (type !== undefined) return { is: 'mode', field: type };
  if (kind === VT_MODEL) return { is: 'text', text: 'vt' };
  return mode === null ? null : { is: 'text', text: mode };
}

/** The plans for one kind. Records whose model's bytes do not fit `payload` keep them as hex; without `payload`, all do. */
export function plansFor(
  layout: RossFileLayout,
  kind: number,
  mode: string | null,
  payload: PayloadLayout | null,
): KindPlan[] {
  const kindLayout = layout.kinds[kind];
  if (kindLayout === null) return [];
  const plain = planFor(layout, kind, kindLayout, mode, null);
  if (payload === null || kindLayout.head === undefined) return [plain];
  const { size } = payload;
  const fitting = planFor(layout, kind, kindLayout, mode, payload);
  return [
    { ...fitting, wants: { bytes: size, fit: true } },
    { ...plain, wants: { bytes: size, fit: false } },
  ];
}

function planFor(
  layout: RossFileLayout,
  kind: number,
  kindLayout: KindLayout,
  mode: string | null,
  payload: PayloadLayout | null,
): KindPlan {
  const fields = new Map(kindLayout.fields.map((field) => [field.key, field]));
  const base = SCHEMAS[kind];
  const metrics: Metric[] = [];
  const sources: ColumnSource[] = [];
  const put = (column: Metric, source: ColumnSource | null) => {
    if (source === null) return;
    metrics.push(column);
    sources.push(source);
  };
  for (const column of base.metrics) {
    const source = baseColumn(column, kind, fields, mode);
    const isChange = layout.changes?.includes(column.key) === true;
    put(
      isChange ? { ...column, behaviour: 'variable', form: 'change', over: 'sum' } : column,
      source,
    );
  }
  for (const extra of EXTRAS) {
    const field = fields.get(extra.key);
    put(extra, field === undefined ? null : { is: 'field', field });
  }
  const { head } = kindLayout;
  if (head !== undefined && payload !== null) {
    for (const column of payload.columns) {
      const { key, type } = column;
      const taken = metrics.some((m) => m.key === key);
      const name = taken ? `model_${key}` : key;
      put(metric(name, PAYLOAD_CELLS[type], '', `the model’s ${key}`), {
        is: 'payload',
        column,
        head,
      });
    }
  } else if (head !== undefined) {
    put(metric('model_data', 'label', '', 'the model’s bytes, as hex'), { is: 'hex', head });
  }
  return { kind, schema: { ...base, metrics }, sources, wants: null };
}
