-- Trino (Hive connector): PEs' samples of all runs in a lake that job.sbatch fills. New runs: the CALL below again.
CREATE TABLE hive.triscope.ross_pe (
  t DOUBLE,
  real_time DOUBLE,
  virtual_time DOUBLE,
  gvt DOUBLE,
  gvt_index BIGINT,
  mode VARCHAR,
  pe_id BIGINT,
  events_processed BIGINT,
  events_aborted BIGINT,
  events_rolled_back BIGINT,
  total_rollbacks BIGINT,
  secondary_rollbacks BIGINT,
  fossil_collect_attempts BIGINT,
  priority_queue_size BIGINT,
  network_sends BIGINT,
  network_receives BIGINT,
  num_gvts BIGINT,
  pe_event_ties BIGINT,
  all_reduce_count BIGINT,
  efficiency REAL,
  network_read_time REAL,
  network_other_time REAL,
  gvt_time REAL,
  fossil_collect_time REAL,
  events_aborted_time REAL,
  events_processed_time REAL,
  priority_queue_time REAL,
  rollback_time REAL,
  cancel_q_time REAL,
  avl_tree_time REAL,
  buddy_time REAL,
  lz4_time REAL,
  remote_events BIGINT,
  run VARCHAR,
  host VARCHAR
)
WITH (
  external_location = 's3a://lake/ross_pe/',
  format = 'PARQUET',
  partitioned_by = ARRAY['run', 'host']
);

CALL hive.system.sync_partition_metadata('triscope', 'ross_pe', 'ADD');
