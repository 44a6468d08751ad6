/** Where the page's samples come from: the server's API for a recording, a WebSocket for a run that is going on. */
import { unpackBins } from '../../src/live/binary.ts';
import type { Facts } from '../../src/live/facts.ts';
import type { TableFacts } from '../../src/live/series/store.ts';
import type { EntityBins } from '../../src/live/series/table.ts';

export interface PageSource {
  tables(): Promise<readonly TableFacts[]>;
  /** Bins of the sum of metrics; none where the table or a metric is not there. */
  series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]>;
}

export class ApiSource implements PageSource {
  #tables: Promise<readonly TableFacts[]> | null = null;

  tables(): Promise<readonly TableFacts[]> {
    this.#tables ??= fetch('/api/tables').then((response) => response.json());
    return this.#tables;
  }

  async series(table: string, keys: readonly string[], from: number, to: number, bins: number) {
    const tables = await this.tables();
    const facts = tables.find(({ name }) => name === table);
    const there = keys.every((key) => facts?.metrics.some((metric) => metric.key === key));
    if (facts === undefined || !there) return [];
    const query = new URLSearchParams({
      table,
      metric: keys.join(','),
      from: String(from),
      to: String(to),
      bins: String(bins),
    });
    const headers = { Accept: 'application/octet-stream' };
    const response = await fetch(`/api/series?${query}`, { headers });
    if (!response.ok) throw new Error(`${table}: ${await response.text()}`);
    return unpackBins(await response.arrayBuffer()).series;
  }
}

export async function fetchFacts(): Promise<Facts & { readonly live: boolean }> {
  const response = await fetch('/api/facts');
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
