/** A session's report as a table. Pure. */
import type { SessionSignal } from '../../../src/view/facts/regions.ts';
import type { ShownTable } from '../parts/table.ts';
import { general } from './report.ts';

const STATISTICS = ['count', 'first', 'last', 'min', 'max', 'mean', 'std'];

/** A row per signal and host, a column per statistic that at least one of them has. */
export function sessionTable(sessions: readonly SessionSignal[]): ShownTable {
  const shown = STATISTICS.filter((key) => sessions.some(({ statistics }) => key in statistics));
  const hosts = new Set(sessions.map(({ host }) => host));
  const reports = new Set(sessions.map(({ report }) => report));
  return {
    columns: [
      { key: 'signal', title: 'Signal' },
      ...(reports.size > 1 ? [{ key: 'report', title: 'report' }] : []),
      ...(hosts.size > 1 ? [{ key: 'host', title: 'host' }] : []),
      ...shown.map((key) => ({ key, title: key, figure: general })),
    ],
    rows: sessions.map(({ report, host, signal, statistics }, k) => ({
      id: String(k),
      cells: { signal, report, host, ...statistics },
    })),
  };
}
