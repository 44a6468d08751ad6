/** Fields of a PE in the packed records of 2016 and 2017, in the order of the files: by mode, with KPs and LPs (detailed) or without. */
export const GVT_DETAILED = [
  'all_reduce_count',
  'events_aborted',
  'pe_event_ties',
  'fossil_collect_attempts',
];
export const GVT_PE = [
  'all_reduce_count',
  'events_processed',
  'events_aborted',
  'events_rolled_back',
  'pe_event_ties',
  'total_rollbacks',
  'secondary_rollbacks',
  'fossil_collect_attempts',
  'network_sends',
  'network_receives',
];
export const TIMES = [
  'network_read_time',
  'gvt_time',
  'fossil_collect_time',
  'events_aborted_time',
  'events_processed_time',
  'priority_queue_time',
  'rollback_time',
  'cancel_q_time',
  'avl_tree_time',
  'buddy_time',
  'lz4_time',
];
export const RT_DETAILED = [
  'events_aborted',
  'priority_queue_size',
  'pe_event_ties',
  'fossil_collect_attempts',
  'num_gvts',
];
export const RT_PE = [
  'events_aborted',
  'priority_queue_size',
  'remote_events',
  'network_sends',
  'network_receives',
  'pe_event_ties',
  'fossil_collect_attempts',
  'num_gvts',
  'events_processed',
  'events_rolled_back',
  'total_rollbacks',
  'secondary_rollbacks',
];
