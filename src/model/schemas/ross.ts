/**
 * What the simulator's samples hold: the fields of ROSS's records under seed 000's names, and what its files have
 * no room for. The order of a record's fields is that of the files (formats/ross), extras at the end.
 *
 * Time columns: `real_time` s since the run's zero, `virtual_time` the sample's own (GVT for engine samples),
 * `gvt` as agreed last.
 */
import type { Cell, Domain, Metric, Schema } from '../metric.ts';

/** A metric whose key and cell are known to the compiler: tables get their columns' types from them. */
type Typed<K extends string, C extends Cell> = Metric & { readonly key: K; readonly cell: C };

const id = <K extends string>(key: K, help: string): Typed<K, 'u32'> => ({
  key,
  cell: 'u32',
  kind: 'gauge',
  behaviour: 'constant',
  form: 'total',
  unit: '',
  over: 'same',
  help,
});

const count = <K extends string>(key: K, help: string, unit = '{event}'): Typed<K, 'u32'> => ({
  key,
  cell: 'u32',
  kind: 'event',
  behaviour: 'variable',
  form: 'change',
  unit,
  over: 'sum',
  help,
});

const gauge = <K extends string, C extends Cell>(
  key: K,
  cell: C,
  unit: string,
  over: Metric['over'],
  help: string,
): Typed<K, C> => ({
  key,
  cell,
  kind: 'gauge',
  behaviour: 'variable',
  form: 'total',
  unit,
  over,
  help,
});

const time = <K extends string>(key: K, help: string, estimate = true): Typed<K, 'f32'> => ({
  key,
  cell: 'f32',
  kind: 'event',
  behaviour: 'variable',
  form: 'change',
  unit: 's',
  over: 'sum',
  ...(estimate && { estimate: true as const }),
  help,
});

const EFFICIENCY = gauge(
  'efficiency',
  'f32',
  '%',
  'ratio',
  '100 (1 - rolled back / net), net = processed - rolled back; 0 where net is not positive',
);

const PROCESSED = count('events_processed', 'events handled, those rolled back later included');
const ABORTED = count('events_aborted', 'events aborted because event memory was full');
const ROLLED_BACK = count('events_rolled_back', 'events undone, aborted ones included');
const ROLLBACKS = count('total_rollbacks', 'primary and secondary rollbacks', '{rollback}');
const SECONDARY = count('secondary_rollbacks', 'rollbacks by cancelled events', '{rollback}');
const SENDS = count('network_sends', 'events sent to other PEs, anti-messages included');
const RECEIVES = count(
  'network_receives',
  'events received from other PEs, anti-messages included',
);
const REMOTE = count('remote_events', 'events committed that another PE sent');

/** Fields of a PE's record in the order of the files. */
export const PE_FIELDS = [
  id('pe_id', 'PE'),
  PROCESSED,
  ABORTED,
  ROLLED_BACK,
  ROLLBACKS,
  SECONDARY,
  count('fossil_collect_attempts', 'fossil collections', '{collection}'),
  gauge('priority_queue_size', 'u32', '{event}', 'sum', 'events pending in the PE’s queue'),
  SENDS,
  RECEIVES,
  {
    ...count('num_gvts', 'GVT computations since the start: a total, as in ROSS', '{gvt}'),
    behaviour: 'monotone',
    form: 'total',
    over: 'max',
  },
  count('pe_event_ties', 'events taken at the same receive time as the one before'),
  { ...count('all_reduce_count', 'reductions over PEs', '{reduction}'), over: 'max' },
  EFFICIENCY,
  time('network_read_time', 'taking events from other PEs', false),
  time('network_other_time', 'handing events to other PEs', false),
  time('gvt_time', 'computing GVT', false),
  time('fossil_collect_time', 'committing events and reclaiming their memory', false),
  time('events_aborted_time', 'undoing aborted events', false),
  time('events_processed_time', 'in event handlers'),
  time('priority_queue_time', 'in the queue'),
  time('rollback_time', 'in primary rollbacks'),
  time('cancel_q_time', 'cancelling events'),
  time('avl_tree_time', 'looking up remote events by id (an AVL tree in ROSS, a table here)'),
  time('buddy_time', 'undo memory (a buddy allocator in ROSS, logs per KP here: 0)'),
  time('lz4_time', 'compression (0: nothing is compressed here)'),
] as const satisfies readonly Metric[];

export const KP_FIELDS = [
  id('pe_id', 'PE'),
  id('kp_id', 'KP, numbered within its PE'),
  PROCESSED,
  ABORTED,
  ROLLED_BACK,
  ROLLBACKS,
  SECONDARY,
  SENDS,
  RECEIVES,
  gauge(
    'time_ahead_gvt',
    'f32',
    '{virtual}',
    'max',
    'virtual time of the KP’s newest event less GVT',
  ),
  EFFICIENCY,
] as const satisfies readonly Metric[];

export const LP_FIELDS = [
  id('pe_id', 'PE'),
  id('kp_id', 'KP, numbered within its PE'),
  id('lp_id', 'LP, numbered over the whole run'),
  PROCESSED,
  ABORTED,
  ROLLED_BACK,
  SENDS,
  RECEIVES,
  EFFICIENCY,
] as const satisfies readonly Metric[];

/** What every sample begins with: not part of a record's fields, but of the frame before it, or ours. */
const SAMPLE_HEADER = [
  gauge('real_time', 'f64', 's', 'last', 'seconds since the run’s zero'),
  gauge(
    'virtual_time',
    'f64',
    '{virtual}',
    'last',
    'virtual time of the sample: GVT for engine samples',
  ),
  gauge('gvt', 'f64', '{virtual}', 'last', 'GVT agreed last'),
  gauge('gvt_index', 'u32', '{gvt}', 'last', 'number of GVTs so far'),
  {
    ...id('mode', 'what made the sample: gvt, rt or vt'),
    cell: 'label',
    behaviour: 'label',
  },
] as const satisfies readonly Metric[];

const schema = <N extends string, const M extends readonly Metric[]>(
  name: N,
  domain: Domain,
  help: string,
  metrics: M,
): Schema & { readonly name: N; readonly metrics: M } => ({
  name,
  domain,
  help,
  metrics,
});

export const ROSS_PE = schema('ross_pe', 'pe', 'one sample of a PE', [
  ...SAMPLE_HEADER,
  ...PE_FIELDS,
  REMOTE,
]);

export const ROSS_KP = schema('ross_kp', 'kp', 'one sample of a KP', [
  ...SAMPLE_HEADER,
  ...KP_FIELDS,
]);

export const ROSS_LP = schema('ross_lp', 'lp', 'one sample of an LP', [
  ...SAMPLE_HEADER,
  ...LP_FIELDS,
  REMOTE,
]);

/** A model's own sample: the payload's columns, declared by the model, follow these. */
export const ROSS_MODEL = schema('ross_model', 'lp', 'one sample of an LP’s model', [
  ...SAMPLE_HEADER,
  id('pe_id', 'PE'),
  id('kp_id', 'KP, numbered within its PE'),
  id('lp_id', 'LP, numbered over the whole run'),
  gauge('speculative', 'u32', '', 'max', '1 where the state may still have been rolled back'),
]);

/** The payload's columns, declared by the model, follow these. */
export const ROSS_EVENT = schema('ross_event', 'lp', 'one traced event', [
  id('source_lp', 'LP that sent the event'),
  id('destination_lp', 'LP that handled it'),
  gauge('virtual_send_time', 'f64', '{virtual}', 'last', 'virtual time at which it was sent'),
  gauge('virtual_recv_time', 'f64', '{virtual}', 'last', 'virtual time at which it takes place'),
  gauge('real_time', 'f64', 's', 'last', 'seconds since the run’s zero, when it was handled'),
]);

export const ROSS_ROLLBACK = schema('ross_rollback', 'kp', 'one rollback of a KP', [
  gauge('real_time', 'f64', 's', 'last', 'seconds since the run’s zero'),
  gauge('gvt', 'f64', '{virtual}', 'last', 'GVT agreed last'),
  gauge('gvt_index', 'u32', '{gvt}', 'last', 'number of GVTs so far'),
  id('pe_id', 'PE'),
  id('kp_id', 'KP, numbered within its PE'),
  id('rollback_id', 'number of the rollback on its PE, from 1'),
  {
    ...id('cause', 'straggler, cancellation, abort (out of memory) or cancelback'),
    cell: 'label',
    behaviour: 'label',
  },
  id('parent_pe', 'PE of the rollback that cancelled the event'),
  id('parent_id', 'number of that rollback on its PE; 0 where no rollback was the cause'),
  id('source_pe', 'PE that sent the straggler, or the cancelled event'),
  id('source_lp', 'LP that sent it'),
  count('events_undone', 'events of the KP that were undone'),
  gauge('straggler_send_time', 'f64', '{virtual}', 'last', 'virtual time at which it was sent'),
  gauge('straggler_recv_time', 'f64', '{virtual}', 'min', 'virtual time rolled back to'),
  gauge('depth', 'f64', '{virtual}', 'max', 'virtual time rolled back over'),
]);

export const ROSS_SCHEMAS = [
  ROSS_PE,
  ROSS_KP,
  ROSS_LP,
  ROSS_MODEL,
  ROSS_EVENT,
  ROSS_ROLLBACK,
] as const;
