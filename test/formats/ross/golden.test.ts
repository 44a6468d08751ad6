/** Genuine files of every era: what an independent decoder found in them must be found here too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { batchesOf, type CellValue, openFile, ROSS, scanRecords } from 'triscope/formats';
import { describe, expect, it } from 'vitest';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const FOLDER = join(GOLDEN ?? '', 'ross');

type Sums = Readonly<Record<string, number>>;

type Facts = Readonly<Record<string, unknown>> & {
  readonly [name in SumsName]?: Sums;
};
type SumsName = 'PE_sums' | 'KP_sums' | 'LP_sums' | 'sums' | 'kp_sums' | 'lp_sums';

interface GoldenFile {
  readonly run: string;
  readonly ross: string;
  readonly file: string;
  readonly facts: Facts;
}

const KEYS: Readonly<Record<string, string>> = {
  nproc: 'events_processed',
  nabort: 'events_aborted',
  nrb: 'events_rolled_back',
  rbtot: 'total_rollbacks',
  rbsec: 'secondary_rollbacks',
  nsend: 'network_sends',
  nread: 'network_receives',
  fc: 'fossil_collect_attempts',
  allred: 'all_reduce_count',
  ties: 'pe_event_ties',
  remote: 'remote_events',
  net: 'net_events',
  ngvt: 'num_gvts',
};

const FILES: readonly GoldenFile[] = !GOLDEN
  ? []
  : readdirSync(FOLDER, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name: run }) => {
        const manifest = JSON.parse(readFileSync(join(FOLDER, run, 'manifest.json'), 'utf8'));
        return Object.entries(manifest.files as Record<string, { facts: Facts }>)
          .filter(([file]) => file.endsWith('.bin'))
          .map(([file, { facts }]) => ({ run, ross: manifest.ross as string, file, facts }));
      });

type Row = Readonly<Record<string, CellValue>> & { readonly kind: string };

/** All records as objects. */
function rowsOf(path: string): Row[] {
  const rows: Row[] = [];
  const source = openFile(path);
  scanRecords(ROSS, source, {
    records(block) {
      for (let k = 0; k < block.length; k++) {
        const { name, keys } = block.kind(k);
        const cells = keys.map((key, n) => [key, block.cell(k, n)] as const);
        rows.push({ kind: name, ...Object.fromEntries(cells) } as Row);
      }
      return undefined;
    },
  });
  source.close();
  return rows;
}

const sum = (rows: readonly Row[], key: string) =>
  rows.reduce((total, row) => total + Number(row[key]), 0);

const countBy = (rows: readonly Row[], key: string) => {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[String(row[key])] = (counts[String(row[key])] ?? 0) + 1;
  return counts;
};

const sums = (rows: readonly Row[], wanted: Sums) =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, sum(rows, KEYS[name])]));

const distinct = (rows: readonly Row[], key: string) =>
  [...new Set(rows.map((row) => Number(row[key])))].sort((a, b) => a - b);
const distinctTuples = (rows: readonly Row[], keys: readonly string[]) =>
  [...new Set(rows.map((row) => JSON.stringify(keys.map((key) => row[key]))))]
    .map((text) => JSON.parse(text) as number[])
    .sort((a, b) => {
      const k = a.findIndex((x, n) => x !== b[n]);
      return k < 0 ? 0 : a[k] - b[k];
    });
const lowHigh = (values: readonly number[]) => [Math.min(...values), Math.max(...values)];
const numbers = (rows: readonly Row[], key: string) => rows.map((row) => Number(row[key]));
const totalBy = (rows: readonly Row[], by: string, key: string) => {
  const totals: Record<string, number> = {};
  for (const row of rows) {
    totals[String(row[by])] = (totals[String(row[by])] ?? 0) + Number(row[key]);
  }
  return totals;
};
const rounded = (x: number) => Math.round(x * 1000) / 1000;

function eventFacts(events: readonly Row[], era: string): Facts {
  const [first] = events;
  return {
    self_events: events.filter((row) => row.source_lp === row.destination_lp).length,
    sum_src: sum(events, 'source_lp'),
    sum_dst: sum(events, 'destination_lp'),
    recv_min_max: lowHigh(numbers(events, 'virtual_recv_time')),
    sum_recv_minus_send: rounded(
      sum(events, 'virtual_recv_time') - sum(events, 'virtual_send_time'),
    ),
    first: first && {
      src: first.source_lp,
      dst: first.destination_lp,
      send: first.virtual_send_time,
      recv: first.virtual_recv_time,
      rt: first.real_time ?? null,
      ...(!era.includes('2017') && { payload: first.model_data }),
    },
    payload_sizes: countBy(events, 'model_data_size'),
    dst_seen: distinct(events, 'destination_lp'),
  };
}

function modelFacts(models: readonly Row[], inVirtualTime: readonly Row[]): Facts {
  const hex = models.map((row) => row.model_data);
  return {
    by_stats_type: countBy(models, 'stats_type'),
    model_sizes: [...new Set(models.map((row) => row.model_size))],
    gvt_distinct: new Set(models.map((row) => row.gvt)).size,
    first_payload_hex: hex[0] ?? null,
    last_payload_hex: hex[hex.length - 1] ?? null,
    payloads: [...new Set(hex)],
    lps: distinct(models, 'lp_id'),
    model_payload_first: inVirtualTime[0]?.model_data,
    model_lps: distinct(inVirtualTime, 'lp_id'),
    model_ts: distinct(inVirtualTime, 'virtual_time'),
  };
}

/** The facts of a file as found here, those that the manifest has. */
function factsOf(rows: readonly Row[], wanted: Facts, era: string): Facts {
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  const [pes, kps, lps, models, events] = ['pe', 'kp', 'lp', 'model', 'event'].map(of);
  const inVirtualTime = of('vt_model');
  const modelCount = models.length + inVirtualTime.length;
  const engine = rows.filter(({ kind }) => kind === 'pe' || kind === 'kp' || kind === 'lp');
  const found: Record<string, unknown> = {
    // 2017 records hold KPs and LPs within a PE's record.
    records: wanted.sums === undefined ? rows.length : pes.length,
    by_kind: {
      ...(pes.length > 0 && { PE: pes.length }),
      ...(kps.length > 0 && { KP: kps.length }),
      ...(lps.length > 0 && { LP: lps.length }),
      ...(modelCount > 0 && { model: modelCount }),
    },
    PE_sums: sums(pes, wanted.PE_sums ?? {}),
    KP_sums: sums(kps, wanted.KP_sums ?? {}),
    LP_sums: sums(lps, wanted.LP_sums ?? {}),
    sums: sums(pes, wanted.sums ?? {}),
    kp_sums: sums(kps, wanted.kp_sums ?? {}),
    lp_sums: sums(lps, wanted.lp_sums ?? {}),
    pes: distinct([...engine, ...models], 'pe_id'),
    samples_per_PE: countBy(pes, 'pe_id'),
    last_num_GVTs_per_PE: Object.fromEntries(pes.map((row) => [row.pe_id, row.num_gvts])),
    gvt_first_last: [pes[0]?.virtual_time, pes[pes.length - 1]?.virtual_time],
    ts_min_max: lowHigh(numbers(rows, 'virtual_time')),
    kp_ids: distinctTuples(kps, ['pe_id', 'kp_id']),
    lp_map_pe_kp_lp: distinctTuples(lps, ['pe_id', 'kp_id', 'lp_id']),
    lp_nproc_total: totalBy(lps, 'lp_id', 'events_processed'),
    lp_size_bytes: /v8\.1/.test(era) ? 48 : 36,
    record_bytes: Number(/event trace \((\d+) bytes/.exec(era)?.[1]),
    ...eventFacts(events, era),
    ...modelFacts(models, inVirtualTime),
  };
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, found[name]])) as Facts;
}

const ERAS: Readonly<Record<string, RegExp>> = {
  master: /ROSS v(8\.1|7\.0) or later/,
  payload: /ROSS v(8\.1|7\.0) or later/,
  'v8.0.0': /ROSS v7\.0 (to v8\.0|or later)/,
  'v7.2.1': /ROSS v7\.0 (to v8\.0|or later)/,
  '2017-04': /2016-12 to 2017-0[47]/,
  '2017-06': /2017-0[46] to 2017-07|2016-12 to 2017-07/,
  '2017-07': /2017-0[46] to 2017-07|2016-12 to 2017-07/,
};

describe.skipIf(!GOLDEN)("ROSS's genuine files (needs TRISCOPE_GOLDEN)", () => {
  it('are all there', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(35);
  });

  describe.each(FILES)('$run/$file', ({ run, ross, file, facts }) => {
    const path = join(FOLDER, run, file);

    it('holds what the independent decoder found', () => {
      const source = openFile(path);
      const { era } = ROSS.open(source).info();
      source.close();
      expect(factsOf(rowsOf(path), facts, era)).toEqual(facts);
    });

    it('is of its era, and nothing in it is damaged', () => {
      const source = openFile(path);
      const info = ROSS.open(source).info();
      source.close();
      expect(info.era).toMatch(ERAS[ross]);
      expect(info.damaged).toBe(false);
    });

    it('gives the same values in columns', () => {
      const rows = rowsOf(path);
      const byKind = new Map<string, Row[]>();
      for (const row of rows) byKind.set(row.kind, [...(byKind.get(row.kind) ?? []), row]);
      const seen: Record<string, number> = {};
      const source = openFile(path);
      const { parts } = ROSS.open(source, { bufferBytes: 4096 });
      for (const batch of parts.flatMap((part) => [...batchesOf(part)])) {
        const vt = batch.columns[batch.schema.metrics.findIndex((m) => m.key === 'mode')];
        const name = batch.schema.name.replace('ross_', '');
        const kind = name === 'model' && vt?.[0] === 'vt' ? 'vt_model' : name;
        const from = seen[kind] ?? 0;
        seen[kind] = from + batch.rows;
        const want = byKind.get(kind)?.slice(from, from + batch.rows) ?? [];
        batch.schema.metrics.forEach(({ key }, k) => {
          if (want[0]?.[key] === undefined) return;
          expect(Array.from(batch.columns[k] as ArrayLike<CellValue>)).toEqual(
            want.map((row) =>
              batch.columns[k] instanceof Uint32Array ? Number(row[key]) >>> 0 : row[key],
            ),
          );
        });
      }
      source.close();
      expect(Object.values(seen).reduce((a, b) => a + b, 0)).toBe(rows.length);
    });
  });
});
