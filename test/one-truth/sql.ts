/** What SQL says, by formulas that are written here by hand. */
import { REPORT_KEYS } from './bytes.ts';
import { ACTIVITIES, counting, has, number, oneMode, type Place, placed, rows } from './place.ts';
import { exact, type Seen } from './seen.ts';

/**
 * Samples of which is known how long they took: in files of ROSS not the first, which counts since the engine's start,
 * where no clock was read. Our own recordings tell when the PEs began.
 */
const TIMED = `(SELECT *, real_time - coalesce(lag(real_time) OVER (PARTITION BY pe_id ORDER BY real_time),
    CASE WHEN (SELECT state FROM recording) IS NULL THEN real_time
      ELSE least(real_time, coalesce((SELECT began FROM recording), 0)) END) AS span
  FROM ross_pe WHERE ${oneMode('ross_pe')}) WHERE span > 0`;

/** The same by the macros of measures, which queries of users call. */
export async function macrosSay(place: Place): Promise<Seen[]> {
  const found: Seen[] = [];
  const say = (measure: string, entity: string, value: unknown) =>
    found.push(exact('macros', measure, entity, number(value)));
  const table = counting(place);
  if (table !== undefined) {
    const work = 'events_processed, events_rolled_back';
    const measures = `measure.rolled_back_share(events_rolled_back, events_processed) AS share, measure.efficiency(${work}) AS efficiency`;
    const from = `FROM ${table} WHERE ${oneMode(table)}`;
    const [all] = await rows(place, `SELECT ${measures} ${from}`);
    say('rolled back %', '', all.share);
    say('efficiency %', '', all.efficiency);
    for (const { pe_id, share } of await rows(
      place,
      `SELECT pe_id, ${measures} ${from} GROUP BY 1`,
    ))
      say('rolled back %', `PE ${pe_id}`, share);
    if (has(place, table, 'total_rollbacks', 'secondary_rollbacks')) {
      const sql = `SELECT measure.secondary_share(secondary_rollbacks, total_rollbacks) AS share ${from}`;
      say('secondary rollbacks %', '', (await rows(place, sql))[0].share);
    }
    if (table === 'ross_pe' && has(place, table, 'real_time')) {
      const sql = `SELECT measure.committed_rate(${work}, span / (SELECT count(DISTINCT pe_id) FROM ${TIMED})) AS rate FROM ${TIMED}`;
      say('committed /s', '', (await rows(place, sql))[0].rate);
    }
  }
  if (has(place, 'geopm_region', 'section', 'runtime', 'sync_runtime')) {
    const sql = `SELECT any_value(section) AS section, region, host, measure.runtime(runtime) AS runtime,
      measure.sync_runtime(sync_runtime) AS sync FROM geopm_region GROUP BY geopm_region.section, region, host`;
    for (const { section, region, host, runtime, sync } of await rows(place, sql)) {
      const name = placed(section === 'region' ? region : section, host);
      if (runtime !== null) say('runtime', name, runtime);
      if (sync !== null) say('sync_runtime', name, sync);
    }
  }
  if (has(place, 'node_cpu_rate', 'user', 'system', 'idle')) {
    const optional = (...states: string[]) =>
      states
        .filter((state) => has(place, 'node_cpu_rate', state))
        .map((state) => `, ${state} := "${state}" * (t - t0)`)
        .join('');
    const sql = `SELECT split_part(host, '.', 1) AS h,
      measure.cpu_user("user" * (t - t0), t - t0${optional('nice')}) AS u,
      measure.cpu_system("system" * (t - t0), t - t0${optional('irq', 'softirq')}) AS s,
      measure.cpu_idle(idle * (t - t0), t - t0${optional('iowait')}) AS i FROM node_cpu_rate GROUP BY host`;
    for (const { h, u, s, i } of await rows(place, sql)) {
      say('user %', String(h), u);
      say('system %', String(h), s);
      say('idle %', String(h), i);
    }
  }
  return found;
}

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
    const counts = samples.map(({ n }) => Number(n));
    if (counts.length > 0) {
      say(
        'samples of PEs',
        '',
        counts.reduce((all, n) => all + n),
      );
    }
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
