/**
 * Measures worked out from the bytes of files, by nothing of the product: formats as their makers wrote them.
 * ROSS 8: frames of u32 flag, u32 size, f64 virtual time, f64 real time, then the record's fields; little endian.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { exact, type Seen } from './seen.ts';

const OUTLET = 'bytes';

/** Offsets in a PE's record of ROSS 8 behind the frame's head: u32 counters, f32 times (st_pe_stats of core/instrumentation). */
const HEAD = { bytes: 24, flag: 0, size: 4 };

interface PeSums {
  readonly counts: number[];
  readonly times: number[];
}

/** Counters of a PE's record, in its order: the id, then these. */
const COUNTS = [
  ...['events_processed', 'events_aborted', 'events_rolled_back', 'total_rollbacks'],
  ...['secondary_rollbacks', 'fossil_collect_attempts', 'priority_queue_size', 'network_sends'],
  ...['network_receives', 'num_gvts', 'pe_event_ties', 'all_reduce_count'],
];
const TIMES = [
  ...['efficiency', 'network_read_time', 'network_other_time', 'gvt_time', 'fossil_collect_time'],
  ...['events_aborted_time', 'events_processed_time', 'priority_queue_time', 'rollback_time'],
  ...['cancel_q_time', 'avl_tree_time', 'buddy_time', 'lz4_time'],
];
const PE_BYTES = 4 * (1 + COUNTS.length + TIMES.length);

/** Sums over the PEs' records of a file of ROSS 8, by PE. */
function peRecords(file: string): Map<number, PeSums> {
  const bytes = readFileSync(file);
  const found = new Map<number, PeSums>();
  const seen = new Set<number>();
  for (let at = 0; at + HEAD.bytes <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + HEAD.size);
    const body = at + HEAD.bytes;
    // Only a PE's record is of this size.
    if (size === PE_BYTES) {
      const pe = bytes.readUInt32LE(body);
      const sums = found.get(pe) ?? { counts: COUNTS.map(() => 0), times: TIMES.map(() => 0) };
      found.set(pe, sums);
      for (const k of COUNTS.keys()) sums.counts[k] += bytes.readUInt32LE(body + 4 + 4 * k);
      const times = body + 4 + 4 * COUNTS.length;
      // The first counts since the engine's start: no clock was read there, so that it has no time of its own.
      const isFirst = !seen.has(pe);
      seen.add(pe);
      for (const k of isFirst ? [] : TIMES.keys())
        sums.times[k] += bytes.readFloatLE(times + 4 * k);
    }
    at = body + size;
  }
  return found;
}

/** Ten measures and more of a file of ROSS 8. */
export function rossBytes(file: string): Seen[] {
  const all = peRecords(file);
  const count = ({ counts }: PeSums, key: string) => counts[COUNTS.indexOf(key)];
  const time = ({ times }: PeSums, key: string) => times[TIMES.indexOf(key)];
  const sum = (key: string) => [...all.values()].reduce((s, one) => s + count(one, key), 0);
  const [handled, undone] = [sum('events_processed'), sum('events_rolled_back')];
  return [
    exact(OUTLET, 'events handled', '', handled),
    exact(OUTLET, 'events rolled back', '', undone),
    exact(OUTLET, 'committed events', '', handled - undone),
    exact(OUTLET, 'rolled back %', '', (100 * undone) / handled),
    exact(OUTLET, 'efficiency %', '', 100 * (1 - undone / (handled - undone))),
    exact(OUTLET, 'rollbacks', '', sum('total_rollbacks')),
    exact(
      OUTLET,
      'secondary rollbacks %',
      '',
      (100 * sum('secondary_rollbacks')) / sum('total_rollbacks'),
    ),
    ...[...all].flatMap(([pe, one]) => [
      exact(OUTLET, 'events handled', `PE ${pe}`, count(one, 'events_processed')),
      exact(
        OUTLET,
        'rolled back %',
        `PE ${pe}`,
        (100 * count(one, 'events_rolled_back')) / count(one, 'events_processed'),
      ),
      exact(OUTLET, 'handlers s', `PE ${pe}`, time(one, 'events_processed_time')),
      exact(OUTLET, 'queue s', `PE ${pe}`, time(one, 'priority_queue_time')),
      exact(
        OUTLET,
        'rollback s',
        `PE ${pe}`,
        time(one, 'rollback_time') + time(one, 'cancel_q_time') + time(one, 'events_aborted_time'),
      ),
      exact(OUTLET, 'gvt s', `PE ${pe}`, time(one, 'gvt_time')),
      exact(OUTLET, 'fossil s', `PE ${pe}`, time(one, 'fossil_collect_time')),
      exact(OUTLET, 'read s', `PE ${pe}`, time(one, 'network_read_time')),
      exact(OUTLET, 'other s', `PE ${pe}`, time(one, 'network_other_time')),
    ]),
  ];
}

/** Keys of a report's sections that are measures. */
export const REPORT_KEYS: Readonly<Record<string, string>> = {
  'runtime (s)': 'runtime',
  count: 'count',
  'sync-runtime (s)': 'sync_runtime',
  'package-energy (J)': 'package_energy',
  'dram-energy (J)': 'dram_energy',
  'power (W)': 'power',
  'frequency (%)': 'frequency_percent',
  'frequency (Hz)': 'frequency',
  'time-hint-network (s)': 'time_hint_network',
  'time-hint-compute (s)': 'time_hint_compute',
};

/** The same of a report of GEOPM, line by line. */
export function reportBytes(file: string): Seen[] {
  const found: Seen[] = [];
  let [host, region] = ['', ''];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const name = /^\s*-?\s*region: "?([^"]*)"?$/.exec(line)?.[1];
    const total = /^ {4}(Unmarked|Epoch|Application) Totals:/.exec(line)?.[1];
    host = /^ {2}(\S+):$/.exec(line)?.[1] ?? host;
    if (name !== undefined) region = name;
    else if (total !== undefined) region = total.toLowerCase();
    const [, key, value] = /^\s+([a-z-]+(?: \([A-Za-z%]+\))?): ([\d.e+-]+)$/.exec(line) ?? [];
    if (key in REPORT_KEYS && region !== '') {
      found.push(exact(OUTLET, REPORT_KEYS[key], `${region} on ${host}`, Number(value)));
    }
  }
  return found;
}

/** Shares of a host's CPU time in states, per cent, from its raw stats files. */
export function rawBytes(folder: string): Seen[] {
  const found: Seen[] = [];
  for (const host of readdirSync(folder, { withFileTypes: true })) {
    if (!host.isDirectory()) continue;
    const files = readdirSync(join(folder, host.name)).sort();
    const text = files
      .map((name) => readFileSync(join(folder, host.name, name)))
      .map((bytes) => String(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes))
      .join('');
    const keys = (/^!cpu (.*)$/m.exec(text)?.[1] ?? '').split(' ').map((key) => key.split(',')[0]);
    const first = new Map<string, number[]>();
    const last = new Map<string, number[]>();
    const times: number[] = [];
    for (const line of text.split('\n')) {
      const time = /^(\d+(?:\.\d+)?) \S+/.exec(line);
      if (time !== null) times.push(Number(time[1]));
      const [, device, values] = /^cpu (\S+) (.*)$/.exec(line) ?? [];
      if (device === undefined) continue;
      const numbers = values.split(' ').map(Number);
      if (!first.has(device)) first.set(device, numbers);
      last.set(device, numbers);
    }
    const seconds = Math.max(...times) - Math.min(...times);
    const share = (...states: string[]) => {
      let all = 0;
      for (const [device, end] of last) {
        for (const state of states) {
          const k = keys.indexOf(state);
          if (k >= 0) all += end[k] - (first.get(device) as number[])[k];
        }
      }
      return all / seconds / last.size;
    };
    const short = host.name.split('.')[0];
    const shares = {
      'user %': share('user', 'nice'),
      'system %': share('system', 'irq', 'softirq'),
      'idle %': share('idle', 'iowait'),
      'stolen %': keys.includes('steal') ? share('steal') : null,
    };
    for (const [name, value] of Object.entries(shares))
      found.push(exact(OUTLET, name, short, value));
    found.push(exact(OUTLET, 'cpus', short, last.size));
    for (const state of ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq']) {
      found.push(exact(OUTLET, `${state} CPUs`, short, (share(state) * last.size) / 100));
    }
  }
  return found;
}
