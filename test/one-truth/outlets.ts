/** What each outlet says of a recording, as numbers to be compared. */
import type { Page } from 'playwright-core';
import { jsonOf } from '../../src/cli/commands/report.ts';
import { reportText } from '../../src/cli/report-text.ts';
import { jsonText } from '../../src/cli/result-rows.ts';
import { compareRecordings, gather, htmlPage } from '../../src/report/index.ts';
import { unpack } from '../../src/view/simulation/packed.ts';
import { triscopeHere } from '../cli/support/run.ts';
import { ask, json, query } from '../live/support/ask.ts';
import { settled } from '../web/support/browser.ts';
import { REPORT_KEYS } from './bytes.ts';
import { exact, printed, type Seen } from './seen.ts';

type Row = Readonly<Record<string, unknown>>;
/** A region on its host. */
const placed = (region: unknown, host: unknown) => `${region} on ${host}`;
const number = (value: unknown) => (value === null || value === undefined ? null : Number(value));

/** Activities: key, columns of `ross_pe`, name on the page. */
const ACTIVITIES = [
  ['handlers', ['events_processed_time'], 'event handlers'],
  ['queue', ['priority_queue_time'], 'event queue'],
  ['rollback', ['rollback_time', 'cancel_q_time', 'events_aborted_time'], 'rolling back'],
  ['gvt', ['gvt_time'], 'GVT'],
  ['fossil', ['fossil_collect_time'], 'fossil collection'],
  ['read', ['network_read_time'], 'network read'],
  ['other', ['network_other_time'], 'network other'],
] as const;

const CPU_SHARES = ['user %', 'system %', 'stolen %', 'idle %'];

/** Where a recording is: its path, and its id in the server's list. */
export interface Place {
  readonly path: string;
  readonly port: number;
  readonly id: string;
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>;
}

const has = ({ tables }: Place, table: string, ...columns: string[]) =>
  columns.every((column) => tables.get(table)?.has(column) === true);

/** The table of the simulator that tells of events, as docs/query.md says it. */
const counting = (place: Place) =>
  ['ross_pe', 'ross_lp', 'ross_kp'].find((table) =>
    has(place, table, 'events_processed', 'events_rolled_back', 'mode'),
  );

async function rows(place: Place, sql: string): Promise<Row[]> {
  const answer = await query(place.port, { sql }, `?recording=${encodeURIComponent(place.id)}`);
  if (answer.status !== 200) throw new Error(`${sql}: ${JSON.stringify(answer)}`);
  const { columns, rows: found } = answer as { columns: { name: string }[]; rows: unknown[][] };
  return found.map((row) => Object.fromEntries(columns.map(({ name }, k) => [name, row[k]])));
}

export async function placeOf(path: string, port: number, id: string): Promise<Place> {
  const tables = new Map<string, Set<string>>();
  const empty = { path, port, id, tables };
  const sql = `SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = 'main'`;
  for (const { t, c } of await rows(empty, sql)) {
    const columns = tables.get(String(t)) ?? new Set();
    tables.set(String(t), columns.add(String(c)));
  }
  return empty;
}

/** One way of sampling, by the documented rule: not virtual time, then the most samples, then the name. */
const oneMode = (table: string) =>
  `mode = (SELECT mode FROM (SELECT mode, count(*) AS n FROM ${table} WHERE mode IS NOT NULL GROUP BY mode)
   ORDER BY mode = 'vt', n DESC, mode LIMIT 1)`;

/**
 * Samples of which is known how long they took: in files of ROSS not the first, which counts since the engine's start,
 * where no clock was read. `real_time` of our own recordings is 0 there.
 */
const TIMED = `(SELECT *, real_time - coalesce(lag(real_time) OVER (PARTITION BY pe_id ORDER BY real_time),
    CASE WHEN (SELECT state FROM recording) IS NULL THEN real_time ELSE 0 END) AS span
  FROM ross_pe WHERE ${oneMode('ross_pe')}) WHERE span > 0`;

/** By hand: formulas as docs/measures.md has them. */
export async function sqlSays(place: Place): Promise<Seen[]> {
  const outlet = 'SQL';
  const found: Seen[] = [];
  const say = (measure: string, entity: string, value: unknown) =>
    found.push(exact(outlet, measure, entity, number(value)));
  const table = counting(place);
  if (table !== undefined) {
    const sums = `sum(events_processed)::DOUBLE AS p, sum(events_rolled_back)::DOUBLE AS r FROM ${table} WHERE ${oneMode(table)}`;
    const [{ p, r }] = (await rows(place, `SELECT ${sums}`)) as { p: number; r: number }[];
    say('events handled', '', p);
    say('events rolled back', '', r);
    say('committed events', '', p - r);
    say('rolled back %', '', p > 0 ? (100 * r) / p : null);
    say('efficiency %', '', p > r ? 100 * (1 - r / (p - r)) : null);
    const samples = await rows(
      place,
      'SELECT mode, count(*) AS n FROM ross_pe WHERE mode IS NOT NULL GROUP BY mode',
    );
    for (const { mode, n } of samples) say('samples of PEs', String(mode), n);
    for (const row of await rows(place, `SELECT pe_id, ${sums} GROUP BY pe_id`)) {
      const [all, undone] = [Number(row.p), Number(row.r)];
      say('events handled', `PE ${row.pe_id}`, all);
      say('rolled back %', `PE ${row.pe_id}`, all > 0 ? (100 * undone) / all : null);
    }
    if (has(place, table, 'total_rollbacks', 'secondary_rollbacks')) {
      const [one] = await rows(
        place,
        `SELECT sum(total_rollbacks)::DOUBLE AS t, sum(secondary_rollbacks)::DOUBLE AS s FROM ${table} WHERE ${oneMode(table)}`,
      );
      say('rollbacks', '', one.t);
      const all = Number(one.t);
      say('secondary rollbacks %', '', all > 0 ? (100 * Number(one.s)) / all : null);
    }
    for (const [key, columns] of ACTIVITIES) {
      if (!has(place, 'ross_pe', ...columns, 'real_time')) continue;
      const sum = columns.map((column) => `sum(${column})`).join(' + ');
      const sql = `SELECT pe_id, (${sum})::DOUBLE AS s FROM ${TIMED} GROUP BY pe_id`;
      for (const { pe_id, s } of await rows(place, sql)) say(`${key} s`, `PE ${pe_id}`, s);
    }
    if (table === 'ross_pe' && has(place, table, 'real_time')) {
      const sql = `SELECT pe_id, 100 * sum(events_rolled_back)::DOUBLE / sum(events_processed) AS s FROM ${TIMED} GROUP BY pe_id`;
      for (const { pe_id, s } of await rows(place, sql)) say('of the window', `PE ${pe_id}`, s);
      const [{ rate }] = await rows(
        place,
        `SELECT (sum(events_processed)::DOUBLE - sum(events_rolled_back)::DOUBLE) / nullif(sum(span) / count(DISTINCT pe_id), 0) AS rate FROM ${TIMED}`,
      );
      say('committed /s', '', rate);
    }
  }
  if (has(place, 'geopm_region', 'section')) {
    const regions = await rows(place, 'SELECT * FROM geopm_region');
    say('regions', '', regions.filter(({ section }) => section === 'region').length);
    for (const row of regions) {
      const name = placed(row.section === 'region' ? row.region : row.section, row.host);
      for (const key of Object.values(REPORT_KEYS)) {
        if (key in row && row[key] !== null) say(key, name, row[key]);
      }
    }
  }
  if (has(place, 'node_cpu_rate', 'user', 'system', 'idle')) {
    const there = (state: string) => has(place, 'node_cpu_rate', state);
    const share = (...states: string[]) => {
      const known = states.filter(there);
      const sum = known.map((state) => `sum("${state}" * (t - t0))`).join(' + ');
      return known.length === 0 ? 'NULL' : `(${sum}) / sum(t - t0)`;
    };
    const steal =
      !there('steal') && has(place, 'node_cpu_steal_rate', 'steal')
        ? '(SELECT sum(steal * (t - t0)) / sum(t - t0) FROM node_cpu_steal_rate s WHERE s.host = c.host)'
        : share('steal');
    const states = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq'].filter(there);
    const cpus = states.map((s) => `${share(s)} * count(DISTINCT device) / 100 AS "${s} CPUs"`);
    const sql = `SELECT split_part(host, '.', 1) AS h, count(DISTINCT device) AS cpus,
      ${share('user', 'nice')} AS "user %", ${share('system', 'irq', 'softirq')} AS "system %",
      ${steal} AS "stolen %", ${share('idle', 'iowait')} AS "idle %", ${cpus.join(', ')}
      FROM node_cpu_rate c GROUP BY host`;
    for (const { h, ...values } of await rows(place, sql)) {
      for (const [key, value] of Object.entries(values)) say(key, String(h), value);
    }
  }
  return found;
}

/** Numbers in the sentences of findings, whoever prints them. */
function sentences(outlet: string, text: string): Seen[] {
  const found: Seen[] = [];
  const flat = text.replace(/\s+/g, ' ');
  const efficiency =
    /([\d,]+) events were handled and (?:less than )?([\d.]+ %) of them rolled back(?:: efficiency (−?[\d.]+ %)|, more than were kept)/.exec(
      flat,
    );
  if (efficiency !== null) {
    const [, handled, share, kept] = efficiency;
    found.push(printed(outlet, 'events handled', '', handled));
    if (!efficiency[0].includes('less than')) {
      found.push(printed(outlet, 'rolled back %', '', share));
    }
    if (kept !== undefined) found.push(printed(outlet, 'efficiency %', '', kept));
  }
  const secondary = /([\d.]+ %) of ([\d,]+) rollbacks are secondary/.exec(flat);
  if (secondary !== null) {
    found.push(printed(outlet, 'secondary rollbacks %', '', secondary[1]));
    found.push(printed(outlet, 'rollbacks', '', secondary[2]));
  }
  return found;
}

/** Names of columns of a report's tables. */
const REGION_COLUMNS: Readonly<Record<string, string>> = {
  'runtime s': 'runtime',
  'all CPUs s': 'sync_runtime',
  visits: 'count',
  'package J': 'package_energy',
  'power W': 'power',
  'frequency %': 'frequency_percent',
};

type Say = (measure: string, entity: string, value: unknown) => void;

/** A row of one of a report's tables, by the names of its columns. */
function tableRow(table: string, row: Row, say: Say): void {
  if (table === 'PEs') {
    const pe = `PE ${row.pe}`;
    if (row.events !== undefined) say('events handled', pe, row.events);
    // Beside CPUs, shares are of the windows that the node was sampled in.
    if (row.events !== undefined) say('rolled back %', pe, row['rolled back %']);
  } else if (table === 'Regions') {
    for (const [name, key] of Object.entries(REGION_COLUMNS)) {
      if (row[name] !== undefined && row[name] !== null)
        say(key, placed(row.region, row.host), row[name]);
    }
  } else if (table === 'Hosts') {
    say('cpus', String(row.host), row.cpus);
    for (const share of CPU_SHARES) say(share, String(row.host), row[share]);
  }
}

/** A report by all its renderers: `--json`, its page, and the text, of one reading of the recording. */
export async function reportSays(place: Place): Promise<Seen[]> {
  const made = await gather(place.path, { charts: true });
  const report = JSON.parse(jsonText(jsonOf(made))) as Row & { findings: Row[] };
  const found: Seen[] = [];
  const say: Say = (measure, entity, value) =>
    found.push(exact('--json', measure, entity, number(value)));
  for (const [key, table] of [
    ['pes', 'PEs'],
    ['regions', 'Regions'],
    ['hosts', 'Hosts'],
  ]) {
    for (const row of (report[key] ?? []) as Row[]) tableRow(table, row, say);
  }
  for (const { sentence } of report.findings) found.push(...sentences('--json', String(sentence)));
  const page = htmlPage([made], 'a test');
  if (counting(place) !== undefined && !page.includes('<h3>Committed events')) {
    throw new Error('the HTML report draws no events, by whatever time');
  }
  return [...found, ...htmlSays(page), ...textSays(reportText(made, false))];
}

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

function htmlSays(text: string): Seen[] {
  const found = sentences('HTML', plain(text.replaceAll('<p>', ' ')));
  for (const [, title, body] of text.matchAll(
    /<section><h2>(PEs|Regions|Hosts)<\/h2>(.*?)<\/section>/gs,
  )) {
    const names = [...body.matchAll(/<th[^>]*>(.*?)<\/th>/g)].map(([, name]) => plain(name));
    for (const [, line] of body.matchAll(/<tr>(.*?)<\/tr>/g)) {
      const cells = [...line.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => plain(cell));
      if (cells.length === 0) continue;
      const row = Object.fromEntries(names.map((name, k) => [name, cells[k]]));
      tableRow(title, row, (measure, entity, value) => {
        const one = printed('HTML', measure, entity, String(value));
        // Six digits of what has more.
        found.push({ ...one, within: one.within + 1e-5 * Math.abs(one.value ?? 0) });
      });
    }
  }
  return found;
}

/** What the command prints for people. */
function textSays(out: string): Seen[] {
  const found = sentences('text', out);
  let table = '';
  let columns: { name: string; from: number; to: number }[] = [];
  let before = 0;
  for (const line of out.split('\n')) {
    if (/^(PEs|Regions|Hosts)$/.test(line)) {
      [table, columns] = [line, []];
    } else if (!line.startsWith('  ')) {
      table = '';
    } else if (table !== '' && columns.length === 0) {
      before = 0;
      columns = [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => {
        const from = before;
        before = index + name.length;
        return { name, from, to: before };
      });
    } else if (table !== '') {
      // The first column, and the host, are texts that begin under their names; numbers end there.
      const cells = [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => ({
        text,
        from: index,
        to: index + text.length,
      }));
      const row = Object.fromEntries(
        columns.map(({ name, from, to }) => [
          name,
          cells.find(
            (cell) => cell.to === to || (cell.from >= from && cell.from < to && cell.to > from),
          )?.text ?? '',
        ]),
      );
      tableRow(table, row, (measure, entity, value) => {
        const one = printed('text', measure, entity, String(value));
        // Four digits of what has more.
        found.push({ ...one, within: one.within + 5e-4 * Math.abs(one.value ?? 0) });
      });
    }
  }
  return found;
}

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
  for (const { format, mode, records } of files) {
    if (format === 'ross' && mode !== undefined && records.pe !== undefined) {
      found.push(exact('info', 'samples of PEs', mode, records.pe));
    }
    if (format === 'geopm' && records.region !== undefined) {
      found.push(exact('info', 'regions', '', records.region));
    }
  }
  return found;
}

/** Totals of `export --to=openmetrics`: of PEs the sums, of CPUs what was counted by the time that it took. */
export async function metricsSays(place: Place): Promise<Seen[]> {
  const tables = ['ross_pe', 'node_cpu'].filter((table) => place.tables.has(table));
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
  if (counting(place) === 'ross_pe') {
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

interface Heat {
  readonly rows: readonly string[];
  readonly totals: Float32Array;
}

const RATIOS = [
  ['rolled_back_share', 'rolled back %'],
  ['efficiency', 'efficiency %'],
] as const;

/** The server's own answers. */
export async function apiSays(place: Place): Promise<Seen[]> {
  const { port, id } = place;
  const of = `recording=${encodeURIComponent(id)}`;
  const found: Seen[] = [];
  const say: Say = (measure, entity, value) =>
    found.push(exact('API', measure, entity, number(value)));
  const summary = await json<Record<'processed' | 'rolledBack' | 'committedRate', number | null>>(
    port,
    `/api/summary?${of}`,
  );
  if (counting(place) !== undefined) {
    say('events handled', '', summary.processed);
    say('events rolled back', '', summary.rolledBack);
    if (has(place, 'ross_pe', 'events_processed', 'real_time')) {
      say('committed /s', '', summary.committedRate);
    }
  }
  for (const { sentence } of await findingsOf(place)) found.push(...sentences('API', sentence));
  const metrics = await json<{ key: string }[]>(port, `/api/heatmap/metrics?level=pe&${of}`);
  for (const [key, measure] of RATIOS) {
    if (!metrics.some((one) => one.key === key) || counting(place) !== 'ross_pe') continue;
    const { body } = await ask(port, `/api/heatmap?metric=${key}&level=pe&bins=1&${of}`);
    const bytes = new Uint8Array(body).buffer;
    const { rows: pes, totals } = unpack<Heat>(bytes);
    for (const [k, pe] of pes.entries()) {
      if (measure === 'efficiency %') continue;
      say(measure, `PE ${pe}`, Number.isNaN(totals[k]) ? null : totals[k]);
    }
  }
  const times = await json<{
    activities: string[];
    pes: { pe: number; parts: number[] }[];
  } | null>(port, `/api/breakdown?${of}`).catch(() => null);
  for (const { pe, parts } of times?.pes ?? []) {
    for (const [k, key] of times?.activities.entries() ?? []) say(`${key} s`, `PE ${pe}`, parts[k]);
  }
  for (const state of ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq']) {
    if (!has(place, 'node_cpu_rate', 'user', 'system', 'idle', state)) continue;
    const series = await json<{ entities: { entity: string; mean: (number | null)[] }[] }>(
      port,
      `/api/series?table=node_cpu&metric=${state}&bins=1&${of}`,
    );
    const hosts = new Map<string, number>();
    for (const { entity, mean } of series.entities) {
      const host = entity.split('/')[0].split('.')[0];
      hosts.set(host, (hosts.get(host) ?? 0) + (mean[0] ?? 0) / 100);
    }
    for (const [host, cpus] of hosts) say(`${state} CPUs`, host, cpus);
  }
  if (has(place, 'geopm_region', 'section')) {
    const regions = await json<{
      columns: { key: string }[];
      rows: { section: string; region: string; host: string; values: (number | null)[] }[];
    }>(port, `/api/regions?${of}`);
    for (const { section, region, host, values } of regions.rows) {
      for (const [k, { key }] of regions.columns.entries()) {
        if (!Object.values(REPORT_KEYS).includes(key) || values[k] === null) continue;
        say(key, placed(section === 'region' ? region : section, host), values[k]);
      }
    }
  }
  return found;
}

/** A recording beside itself: both sides say what the others say, and nothing changed. */
export async function diffSays({ path }: Place): Promise<Seen[]> {
  const compared = await compareRecordings(path, path);
  const { changes, facts, findings } = compared;
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

/** The page in a browser, view by view. */
export async function pageSays(place: Place, page: Page, url: string): Promise<Seen[]> {
  const found: Seen[] = [];
  const go = async (view: string) => {
    await page.goto('about:blank');
    await page.goto(`${url}#view=${view}&recording=${encodeURIComponent(place.id)}`);
    await page.waitForSelector('main [data-findings], main figure, main table, main p');
    await settled(page);
  };
  await go('overview');
  await page.waitForFunction(
    `!/Looking for what is slow/.test(document.querySelector('[data-findings]').textContent)`,
  );
  await settled(page);
  const events = page.locator('[data-figure="events"]');
  if (counting(place) !== undefined && (await events.getAttribute('data-state')) !== 'ready') {
    throw new Error('the page draws no events, by whatever time');
  }
  const more = page.locator('[data-findings] > button');
  if ((await more.count()) > 0) await more.click();
  found.push(...sentences('page', (await page.textContent('[data-findings]')) ?? ''));
  const facts = (await page.locator('[data-facts] > span').allTextContents()).map((t) => t.trim());
  const undone = facts.find((text) => text.endsWith('rolled back'));
  if (undone !== undefined && !undone.startsWith('less')) {
    found.push(printed('page', 'rolled back %', '', undone));
  }
  const pace = facts.find((text) => text.endsWith('net of rollbacks'));
  if (pace !== undefined)
    found.push(printed('page', 'committed /s', '', pace.replace(/ events.*/, '')));
  const kept = facts.find((text) => text.startsWith('efficiency'));
  if (kept !== undefined) {
    found.push(printed('page', 'efficiency %', '', kept.replace('efficiency ', '')));
  }
  const worst = /(PE \d+) undoes the most: ([\d.]+ %)/.exec((await page.textContent('body')) ?? '');
  if (worst !== null) found.push(printed('page', 'of the window', worst[1], worst[2]));
  if (has(place, 'ross_pe', 'events_processed_time', 'real_time')) {
    await go('simulation');
    const figure = page.locator('[data-figure="breakdown"]');
    // Clocks that stand still tell no times.
    if ((await figure.getAttribute('data-state')) !== 'ready') return found;
    await figure.locator('details.numbers > summary').click();
    await settled(page);
    const heads = await figure.locator('thead th').allTextContents();
    const lines = await figure.locator('tbody tr').all();
    for (const line of lines) {
      const cells = (await line.locator('th, td').allTextContents()).map((text) => text.trim());
      for (const [key, , label] of ACTIVITIES) {
        const k = heads.findIndex((head) => head.includes(label));
        if (k > 0) found.push(printed('page', `${key} s`, cells[0], cells[k]));
      }
    }
  }
  return found;
}

interface Told {
  readonly rule: string;
  readonly severity: string;
  readonly sentence: string;
  readonly advice: string;
}

const findingsOf = ({ port, id }: Place): Promise<Told[]> =>
  json<Told[]>(port, `/api/findings?recording=${encodeURIComponent(id)}`);

/** Options that one finding wants larger and another smaller. */
export async function contradictions(place: Place): Promise<string[]> {
  const turns = new Map<string, Set<string>>();
  for (const { advice } of await findingsOf(place)) {
    for (const [, way, options] of advice.matchAll(
      /\b(smaller|larger) (--[a-z-]+(?:(?:,| or) (?:a smaller |a larger )?--[a-z-]+)*)/g,
    )) {
      for (const [option] of options.split('--max-opt-lookahead')[0].matchAll(/--[a-z-]+/g)) {
        turns.set(option, (turns.get(option) ?? new Set()).add(way));
      }
    }
  }
  return [...turns].filter(([, ways]) => ways.size > 1).map(([option]) => option);
}
