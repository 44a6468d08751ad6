/** What commands print: `read`, `info`, `export`, `diff`. */
import { compareRecordings } from '../../src/report/index.ts';
import { triscopeHere } from '../cli/support/run.ts';
import { REPORT_KEYS } from './bytes.ts';
import { counting, has, number, oneMode, type Place, placed, type Row, rows } from './place.ts';
import { exact, type Seen } from './seen.ts';

/** Records as `read` prints them, summed up here: of one mode of sampling. */
export async function readSays(place: Place): Promise<Seen[]> {
  const { code, out } = await triscopeHere(['read', place.path, '--format', 'json']);
  if (code !== 0) return [];
  const found: Seen[] = [];
  for (const line of out.trim().split('\n')) {
    const row = JSON.parse(line) as Row;
    if (typeof row.section !== 'string') break;
    const name = placed(row.section === 'region' ? row.region : row.section, row.host);
    for (const [key, measure] of Object.entries(REPORT_KEYS)) {
      if (row[key] !== undefined) found.push(exact('read', measure, name, number(row[key])));
    }
  }
  return found;
}

interface FileFacts {
  readonly format: string;
  readonly mode?: string;
  readonly records: Readonly<Record<string, number>>;
}

/** `info --json`: how many records there are. */
export async function infoSays({ path }: Place): Promise<Seen[]> {
  const { out } = await triscopeHere(['info', path, '--json']);
  const { files } = JSON.parse(out) as { readonly files: readonly FileFacts[] };
  const found: Seen[] = [];
  let all = 0;
  for (const { format, mode, records } of files) {
    const samples = format === 'frames' ? records.ross_pe : records.pe;
    if (samples !== undefined) all += samples;
    if (format === 'ross' && mode !== undefined && samples !== undefined) {
      found.push(exact('info', 'samples of PEs', mode, samples));
    }
    if (format === 'geopm' && records.region !== undefined) {
      found.push(exact('info', 'regions', '', records.region));
    }
  }
  if (all > 0) found.push(exact('info', 'samples of PEs', '', all));
  return found;
}

/** Totals of `export --to=openmetrics`: of PEs the sums, of CPUs what was counted by the time that it took. */
export async function metricsSays(place: Place): Promise<Seen[]> {
  // Files of 2016 have no times: a monitor has no place for their samples.
  const tables = ['ross_pe', 'node_cpu'].filter((table) => has(place, table, 't'));
  if (tables.length === 0) return [];
  const words = ['export', place.path, '--to=openmetrics', `--table=${tables.join()}`, '-o', '-'];
  const { code, out, err } = await triscopeHere(words);
  if (code !== 0) throw new Error(err);
  const lines = new Map<string, { labels: string; value: number; time: number }[]>();
  for (const [, name, labels, value, time] of out.matchAll(
    /^triscope_(\w+)\{(.*)\} (\S+)(?: (\S+))?$/gm,
  )) {
    const all = lines.get(name) ?? [];
    lines.set(name, all);
    all.push({ labels, value: Number(value), time: Number(time) });
  }
  const found: Seen[] = [];
  const label = (labels: string, key: string) => new RegExp(`${key}="([^"]*)"`).exec(labels)?.[1];
  if (tables.includes('ross_pe') && counting(place) === 'ross_pe') {
    const sql = `SELECT mode FROM ross_pe WHERE ${oneMode('ross_pe')} LIMIT 1`;
    const [{ mode }] = await rows(place, sql);
    // The last of each: totals.
    const of = (key: string) =>
      [
        ...new Map(
          (lines.get(`ross_pe_${key}_total`) ?? []).map((line) => [line.labels, line]),
        ).values(),
      ].filter(({ labels }) => label(labels, 'mode') === mode);
    for (const { labels, value } of of('events_processed')) {
      found.push(exact('metrics', 'events handled', `PE ${label(labels, 'pe_id')}`, value));
    }
    const sum = (key: string) => of(key).reduce((all, { value }) => all + value, 0);
    found.push(exact('metrics', 'events handled', '', sum('events_processed')));
    found.push(exact('metrics', 'events rolled back', '', sum('events_rolled_back')));
  }
  for (const state of ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq']) {
    const ends = new Map<string, { first: number; last: number; from: number; to: number }>();
    for (const { labels, value, time } of lines.get(`node_cpu_${state}_seconds_total`) ?? []) {
      const known = ends.get(labels) ?? { first: value, last: value, from: time, to: time };
      ends.set(labels, { ...known, last: value, to: time });
    }
    const hosts = new Map<string, number>();
    for (const [labels, { first, last, from, to }] of ends) {
      const [host] = (label(labels, 'host') ?? '').split('.');
      if (to > from) hosts.set(host, (hosts.get(host) ?? 0) + (last - first) / (to - from));
    }
    for (const [host, cpus] of hosts) {
      // Values of millions of seconds are doubles.
      const one = exact('metrics', `${state} CPUs`, host, cpus);
      found.push({ ...one, within: one.within + 1e-6 });
    }
  }
  return found;
}

/** A recording beside itself: both sides say what the others say, and nothing changed. */
export async function diffSays({ path }: Place): Promise<Seen[]> {
  const compared = await compareRecordings(path, path);
  const { changes, facts, findings, notes } = compared;
  // Its rates and shares are then of the run once it is under way, and it says so.
  const isCut = notes.some((note) => note.startsWith('Left out of rates and shares'));
  const wrong = [
    ...changes.filter(({ verdict }) => verdict !== 'same').map(({ key }) => key),
    ...facts.filter(({ a, b }) => a !== b).map(({ key }) => key),
    ...findings.filter(({ what }) => what !== 'both').map(({ rule }) => rule),
  ];
  if (wrong.length > 0) throw new Error(`beside itself it differs in ${wrong.join(', ')}`);
  const names: Readonly<Record<string, string>> = {
    'events handled': 'events handled',
    'events rolled back': 'events rolled back',
    'committed events in all': 'committed events',
    'rolled back': 'rolled back %',
    efficiency: 'efficiency %',
    rollbacks: 'rollbacks',
    'secondary rollbacks': 'secondary rollbacks %',
  };
  return changes.flatMap(({ scope, host, entity, key, unit, a }) => {
    const value = a?.value ?? null;
    if (isCut && unit === '%') return [];
    const name = names[`${key} ${unit}`] ?? (key === 'committed events' ? undefined : names[key]);
    if (scope === 'run' && name !== undefined) return [exact('diff', name, '', value)];
    if (scope === 'pe' && key === 'rolled back' && entity.startsWith('PE ')) {
      return [exact('diff', 'rolled back %', entity, value)];
    }
    if (scope === 'region') {
      const measure = key.replaceAll(' ', '_');
      return Object.values(REPORT_KEYS).includes(measure)
        ? [exact('diff', measure, placed(entity, host), value)]
        : [];
    }
    if (scope === 'node' && entity === 'cpu' && unit === 'CPUs' && host !== null) {
      return [exact('diff', `${key} CPUs`, host.split('.')[0], value)];
    }
    return [];
  });
}
