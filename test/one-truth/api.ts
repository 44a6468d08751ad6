/** What the server answers. */
import { unpack } from '../../src/view/simulation/packed.ts';
import { ask, json } from '../live/support/ask.ts';
import { REPORT_KEYS } from './bytes.ts';
import { counting, findingsOf, has, number, type Place, placed, type Say } from './place.ts';
import { exact, type Seen } from './seen.ts';
import { sentences } from './sentences.ts';

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
