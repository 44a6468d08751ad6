/** What the dashboard's server tells Prometheus and its like: its followers, and how its recordings fare. */
import { Gauge, Registry } from 'prom-client';
import type { Exhibit } from './exhibit.ts';
import type { MetricsText } from './metrics-text.ts';
import type { Followers } from './net/followers.ts';
import type { Shown } from './shown.ts';

/** Seconds before the last sample over which rates are taken. */
const RECENT_SECONDS = 10;

const RATES = [
  ['events_processed', 'triscope_pe_events_per_second', 'events that a PE handles in a second'],
  [
    'events_rolled_back',
    'triscope_pe_rolled_back_events_per_second',
    'events of a PE that are undone in a second',
  ],
] as const;

/** The rates of the PEs of a recording by now; none where it has no samples of PEs. */
function ratesOf({ store }: Shown, key: string): readonly (readonly [string, number])[] {
  const table = store.tables().find(({ name }) => name === 'ross_pe');
  if (table === undefined || !table.metrics.some((metric) => metric.key === key)) return [];
  const { to } = table;
  const series =
    store.series('ross_pe', [key], Math.max(table.from, to - RECENT_SECONDS), to, 1) ?? [];
  return series.flatMap(({ entity, mean }) => (Number.isNaN(mean[0]) ? [] : [[entity, mean[0]]]));
}

export function serverMetrics(exhibits: readonly Exhibit[], followers: Followers): MetricsText {
  const registry = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    collect: (gauge: Gauge) => void | Promise<void>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        this.reset();
        await collect(this);
      },
    });
  const shown = async (): Promise<Shown[]> => {
    const all = await Promise.allSettled(exhibits.map((one) => one.now()));
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  };
  gauge('triscope_followers', 'pages that follow what is shown', [], (one) =>
    one.set(followers.taken),
  );
  gauge(
    'triscope_followers_dropped',
    'followers that were sent away as they took too little, since the start',
    [],
    (one) => one.set(followers.dropped),
  );
  gauge(
    'triscope_frames_left_out',
    'frames that followers had no room for, since the start',
    ['recording'],
    (one) => {
      for (const { id, skipped } of exhibits) one.set({ recording: id }, skipped);
    },
  );
  gauge(
    'triscope_recording_live',
    '1 while samples come as they are taken',
    ['recording'],
    async (one) => {
      for (const { id, live } of await shown()) one.set({ recording: id }, live ? 1 : 0);
    },
  );
  for (const [key, name, help] of RATES) {
    gauge(
      name,
      `${help}, over the last ${RECENT_SECONDS} s with samples`,
      ['recording', 'pe'],
      async (one) => {
        for (const each of await shown()) {
          for (const [pe, rate] of ratesOf(each, key)) one.set({ recording: each.id, pe }, rate);
        }
      },
    );
  }
  return registry;
}
