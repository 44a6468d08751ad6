/** One way to read: each file is read once when it is opened, what is appended alone when it grows, and any format is a line. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { FileInfo, Format, RecordBlock } from '../../src/formats/format.ts';
import { arrayFor, type Part, type RawColumn, type RawRows } from '../../src/formats/part.ts';
import { scanRecords } from '../../src/formats/records.ts';
import { FORMATS, identifyOrFail, openData } from '../../src/formats/registry.ts';
import { writeEvent24At } from '../../src/formats/ross/write/index.ts';
import { bytesRead, openFile } from '../../src/formats/source.ts';
import { LiveBus } from '../../src/live/bus.ts';
import { openSeries } from '../../src/live/recording-source.ts';
import { RecordingTail } from '../../src/live/tail.ts';
import type { Schema } from '../../src/model/metric.ts';
import { exportRecording, InputError } from '../../src/query/index.ts';
import { loadTables } from '../../src/query/load.ts';
import { sourcesOf } from '../../src/query/sources.ts';
import { compareRecordings } from '../../src/report/compare/index.ts';
import { gather } from '../../src/report/index.ts';
import { encode, type Row } from './ross/support/rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'parts-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Bytes of events, 24 each with 8 of the model, one each second from `first` on. */
function events(first: number, count: number): Uint8Array {
  const bytes = new Uint8Array(32 * count);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < count; k++) {
    const n = first + k;
    writeEvent24At(view, 32 * k, n % 7, n % 5, n, n + 0.5, n + 1, 8);
  }
  return bytes;
}

function samples(count: number): Uint8Array {
  const row = (k: number): Row => ({
    ...{ kind: ((k >> 1) % 3) as Row['kind'], mode: 1, real: k / 1e4, virtual: k, gvt: k },
    values: { pe_id: k % 2, kp_id: k % 2, lp_id: k % 2, events_processed: k % 50 },
  });
  return encode(
    'ross-7',
    Array.from({ length: count }, (_, k) => row(k)),
  );
}

function report(regions: number): string {
  const section = (n: number) =>
    `    - region: "r${n}"\n      hash: 0x${(n + 1).toString(16).padStart(8, '0')}\n      runtime (s): ${n}.5\n      count: ${n}\n`;
  const all = Array.from({ length: regions }, (_, n) => section(n)).join('');
  return `GEOPM Version: 3.1.0\nStart Time: now\nProfile: p\nAgent: monitor\nPolicy: {}\n\nHosts:\n  vm:\n    Regions:\n${all}    Application Totals:\n      runtime (s): 9\n`;
}

const trace = (from: number, rows: number) =>
  Array.from({ length: rows }, (_, k) => `${from + k}|0x0000000${k % 9}|${k}.25\n`).join('');

const TRACE_HEAD =
  '# geopm_version: 3.1.0\n# node_name: vm\nTIME|REGION_HASH|CPU_ENERGY-package-0\n';

const raw = (from: number, groups: number) =>
  Array.from({ length: groups }, (_, k) => `${from + k} 7 vm\ncpu 0 ${k} ${2 * k}\n`).join('');

const RAW_HEAD = '$tacc_stats 2.3.4\n$hostname vm\n!cpu user,E,U=cs idle,E,U=cs\n\n';

/** A file of each kind, and how to make it longer. */
const FILES: readonly { name: string; first: Uint8Array | string; more: Uint8Array | string }[] = [
  { name: 'a-evtrace.bin', first: events(0, 20_000), more: events(20_000, 5000) },
  { name: 'trace-vm', first: TRACE_HEAD + trace(0, 20_000), more: trace(20_000, 5000) },
  { name: '1700000000', first: RAW_HEAD + raw(1.7e9, 20_000), more: raw(1.7e9 + 20_000, 5000) },
];
/** Samples of two PEs, of which each has KPs and LPs: three tables. */
const SAMPLES = { name: 'a-gvt.bin', first: samples(30_000), more: '' };
const FEW = { name: 'few-gvt.bin', first: samples(30) };
const REPORT = { name: 'report.yaml', first: report(4000), more: '' };

function written({ name, first }: { name: string; first: Uint8Array | string }): string {
  const path = join(folder, name);
  writeFileSync(path, first);
  return path;
}

/** How many times a file's bytes are read by `work`. */
async function readings(path: string, work: () => unknown): Promise<number> {
  const before = bytesRead.count;
  await work();
  return (bytesRead.count - before) / statSync(path).size;
}

describe('bytes', () => {
  it.each([...FILES, REPORT])('$name is opened with one reading', async (file) => {
    const path = written(file);
    let rows = 0;
    const opened = await readings(path, async () => {
      const { tables, close } = await loadTables(sourcesOf(path));
      rows = tables.reduce((sum, table) => sum + table.rows, 0);
      close();
    });
    expect(rows).toBe(file === REPORT ? 4001 : 20_000);
    expect(opened).toBeGreaterThan(0.99);
    expect(opened).toBeLessThan(1.2);
    const surveyed = await readings(path, () => {
      const source = openFile(path);
      identifyOrFail(source).format.open(source, { counters: true }).info();
      source.close();
    });
    expect(surveyed).toBeLessThan(1.2);
  });

  it('of a page’s series are read once', async () => {
    const path = written({ name: 'b-evtrace.bin', first: events(0, 20_000) });
    expect(await readings(path, () => openSeries(path))).toBeLessThan(1.2);
  });

  it('of a file that is larger than the memory for it are read again by each reader', async () => {
    const path = written(SAMPLES);
    const { tables, close } = await loadTables(sourcesOf(path), statSync(path).size);
    const again = await readings(path, () => [...tables[0].pieces[0].part.read([0])]);
    close();
    expect(again).toBeCloseTo(1, 1);
  });
});

/** Bytes that this process has read, its threads included. */
const readSoFar = () => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

async function exported(path: string, format: 'csv' | 'trace-event' | 'openmetrics') {
  const out = join(folder, `out-${format}`);
  await exportRecording({ paths: [path], format }, out);
  rmSync(out, { recursive: true });
}

/** Commands that ask for a file's rows with many queries. */
const COMMANDS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  report: (path) => gather(path, { charts: true }),
  diff: (path) => compareRecordings(path, written({ ...FEW, name: 'other-gvt.bin' })),
  'export to CSV': (path) => exported(path, 'csv'),
  'export to a trace': (path) => exported(path, 'trace-event'),
  'export to OpenMetrics': (path) => exported(path, 'openmetrics'),
};

describe('a command reads a file once, however many tables and queries it needs', () => {
  const CASES = Object.keys(COMMANDS).flatMap((command) =>
    [SAMPLES, ...FILES, REPORT]
      .filter((file) => file === SAMPLES || command === 'report')
      .map((file) => ({ command, file, name: file.name })),
  );

  /** Bytes that a command reads of a path. */
  const bytes = async (command: string, of: string) => {
    const before = readSoFar();
    // Two recordings of which one has hardly any rows have nothing in common.
    await COMMANDS[command](of).catch((error) => expect(error).toBeInstanceOf(InputError));
    return readSoFar() - before;
  };
  /** By command: what it reads besides, once all is loaded that is loaded once. */
  const besides = new Map<string, number>();

  it.each(CASES)('$command of $name', async ({ command, file }) => {
    if (!besides.has(command)) {
      const few = written(FEW);
      await bytes(command, few);
      besides.set(command, await bytes(command, few));
    }
    const path = written(file);
    const own = (await bytes(command, path)) - (besides.get(command) ?? 0);
    const readings = own / statSync(path).size;
    expect(readings).toBeGreaterThan(0.5);
    expect(readings).toBeLessThan(file === REPORT ? 2 : 1.2);
  });
});

/** Rows of a part as texts. */
const rowsOf = ({ labels }: Part, { rows, columns }: RawRows): string[] =>
  Array.from({ length: rows }, (_, row) =>
    columns.map((column, k) => labels[k]?.[Number(column[row])] ?? String(column[row])).join(' '),
  );

describe('a file that grows', () => {
  it.each(FILES)('$name: only what came is read, and it is what a new reading gives', (file) => {
    const path = written(file);
    const told: string[] = [];
    const take = (part: Part, rows: RawRows) => void told.push(...rowsOf(part, rows));
    const opened = openData(path, null, { growing: true, take });
    expect(told).toHaveLength(20_000);
    const bytes = Buffer.from(file.more as Uint8Array);
    // In two halves, the first of which ends within a record.
    const half = (bytes.length >> 1) + 5;
    for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
      appendFileSync(path, piece);
      const before = bytesRead.count;
      opened?.grow?.(take);
      expect(bytesRead.count - before).toBeLessThan(piece.length + 2000);
    }
    // The folder has not the host’s name.
    const suspect = opened?.suspect.filter(({ where }) => where !== 'file');
    expect(suspect).toEqual([]);
    opened?.close();
    const again = openData(path, null);
    const [part] = again?.parts ?? [];
    const all = [...(part?.read([...part.schema.metrics.keys()]) ?? [])];
    again?.close();
    expect(part?.rows).toBe(25_000);
    expect(all.reduce((sum, { rows }) => sum + rows, 0)).toBe(25_000);
    expect(told).toHaveLength(25_000);
    const fresh = openData(path, null);
    const [last] = fresh?.parts ?? [];
    const texts: string[] = [];
    for (const rows of last?.read([...last.schema.metrics.keys()]) ?? []) {
      texts.push(...rowsOf(last as Part, rows));
    }
    fresh?.close();
    expect(told).toEqual(texts);
  });
});

describe('a page’s series of a loose file that grows', () => {
  it.each(FILES)('$name: take in what came, and are those of a new reading', async (file) => {
    const path = written({ ...file, name: `p-${file.name}` });
    const page = await openSeries(path);
    appendFileSync(path, file.more);
    const before = bytesRead.count;
    expect(page.grow()).toBe(true);
    expect(bytesRead.count - before).toBeLessThan(file.more.length + 4000);
    const anew = await openSeries(path);
    const drawn = ({ store }: typeof page) =>
      store.tables().map((table) => {
        const { name, metrics, to } = table;
        return [table, store.series(name, [metrics[0].key], 0, to + 1, 50)];
      });
    expect(drawn(page)).toEqual(drawn(anew));
    // Another file that begins anew in the same place, and is longer.
    const [first, more] = [file.first, file.more].map((part) => Buffer.from(part as Uint8Array));
    writeFileSync(path, Buffer.concat([more, first, more]));
    expect(page.grow()).toBe(false);
    page.close();
    anew.close();
  });

  it('is read anew where its last line was not finished', async () => {
    const path = written({ name: 'cut', first: RAW_HEAD + raw(1.7e9, 9).slice(0, -3) });
    const page = await openSeries(path);
    appendFileSync(path, '16\n');
    expect(page.grow()).toBe(false);
    page.close();
  });
});

/** A format in one piece: lines `seconds place value` behind the line `tiny`. */
const TINY_SCHEMA: Schema = {
  name: 'tiny_sample',
  domain: 'device',
  help: 'what a test writes',
  metrics: (['real_time', 'place', 'value'] as const).map((key) => ({
    key,
    cell: key === 'place' ? 'label' : 'f64',
    kind: 'gauge',
    behaviour: 'variable',
    form: 'total',
    unit: key === 'real_time' ? 's' : '',
    over: 'last',
    help: key,
  })),
};

const TINY: Format = {
  name: 'tiny',
  help: 'lines of a test',
  detect: (head) =>
    Buffer.from(head.subarray(0, 5)).toString() === 'tiny\n'
      ? { confidence: 1, because: 'it says tiny', era: 'tiny' }
      : null,
  open(source, { take } = {}) {
    const labels: string[] = [];
    const steps: RawRows[] = [];
    let at = 0;
    const part: Part = {
      schema: TINY_SCHEMA,
      get rows() {
        return steps.reduce((sum, { rows }) => sum + rows, 0);
      },
      labels: [null, labels, null],
      *read(columns) {
        for (const { rows, columns: all } of steps) {
          yield { rows, columns: columns.map((k) => all[k]) };
        }
      },
    };
    const pass = (tell = take) => {
      const bytes = new Uint8Array(source.size - at);
      const text = Buffer.from(bytes.subarray(0, source.read(at, bytes))).toString();
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      at += whole.length;
      const lines = whole.split('\n').filter((line) => line !== '' && line !== 'tiny');
      if (lines.length === 0) return;
      const cells = lines.map((line) => line.split(' '));
      for (const [, place] of cells) if (!labels.includes(place)) labels.push(place);
      const columns = TINY_SCHEMA.metrics.map(({ cell }, k): RawColumn => {
        const values = arrayFor(cell, lines.length);
        cells.forEach((row, n) => {
          values[n] = k === 1 ? labels.indexOf(row[1]) : Number(row[k]);
        });
        return values;
      });
      steps.push({ rows: lines.length, columns });
      tell?.(part, { rows: lines.length, columns });
    };
    pass();
    return {
      parts: [part],
      suspect: [],
      zero: null,
      info: () => ({ records: { sample: part.rows } }) as unknown as FileInfo,
      grow(tell) {
        source.refresh();
        pass(tell);
      },
    };
  },
};

describe('a format of one’s own', () => {
  afterEach(() => {
    const at = FORMATS.indexOf(TINY);
    if (at >= 0) FORMATS.splice(at, 1);
  });

  it('is a line in the registry: then it is a table, drawn, followed in a recording, and told', async () => {
    FORMATS.unshift(TINY);
    const path = join(folder, 'own.tri');
    mkdirSync(path);
    const file = join(path, 'samples');
    writeFileSync(file, 'tiny\n1 left 2.5\n2 right 3\n');
    const zero = '1700000000000000000';
    const files = [{ path: 'samples', format: 'tiny' }];
    const recording = {
      ...{ version: 1, state: 'running', started: '2023-11-14T22:13:20.000Z', hosts: [], pes: [] },
      madeBy: { command: ['test'], triscope: '0', node: '20' },
      sources: [{ name: 'own', files, zero, droppedBytes: 0 }],
    };
    writeFileSync(join(path, 'recording.json'), JSON.stringify(recording));

    const source = openFile(file);
    expect(identifyOrFail(source).format.open(source).info().records).toEqual({ sample: 2 });
    const printed: unknown[] = [];
    const records = (block: RecordBlock): undefined => {
      for (let k = 0; k < block.length; k++)
        printed.push([0, 1, 2].map((key) => block.cell(k, key)));
    };
    scanRecords(TINY, source, { records });
    expect(printed).toEqual([
      [1, 'left', 2.5],
      [2, 'right', 3],
    ]);
    source.close();

    const { tables, close } = await loadTables(sourcesOf(path));
    expect(tables.map(({ name, rows, timed }) => [name, rows, timed])).toEqual([
      ['tiny_sample', 2, true],
    ]);
    expect(tables[0].columns.map(({ labels }) => labels)).toEqual([null, ['left', 'right'], null]);
    close();

    const { store } = await openSeries(path);
    expect(store.tables().map(({ name }) => name)).toContain('tiny_sample');

    const seen: number[] = [];
    const bus = new LiveBus();
    bus.publish = ({ schema, columns }) => {
      expect(schema.name).toBe('tiny_sample');
      seen.push(...Array.from(columns[2] as Float64Array));
    };
    const tail = new RecordingTail(path, 'own', bus);
    tail.look();
    expect(seen).toEqual([2.5, 3]);
    appendFileSync(file, '3 left 4');
    expect(tail.poll()).toBe(false);
    appendFileSync(file, '.5\n');
    expect(tail.poll()).toBe(true);
    expect(seen).toEqual([2.5, 3, 4.5]);
    tail.close();
  });

  it('that a recording names is read by it, whatever its content looks like', async () => {
    const path = join(folder, 'named.tri');
    mkdirSync(path);
    // Nothing in these bytes, or in the name, says what they are.
    writeFileSync(join(path, 'data'), '');
    const zero = '1700000000000000000';
    const recording = {
      ...{ version: 1, state: 'finished', started: '2023-11-14T22:13:20.000Z', hosts: [], pes: [] },
      madeBy: { command: ['test'], triscope: '0', node: '20' },
      sources: [
        { name: 'sim', files: [{ path: 'data', format: 'frames' }], zero, droppedBytes: 0 },
      ],
    };
    writeFileSync(join(path, 'recording.json'), JSON.stringify(recording));
    const { suspects, close } = await loadTables(sourcesOf(path));
    close();
    expect(suspects).toEqual([
      { file: 'data', what: 'it is empty: nothing was written into it yet, or ever' },
    ]);
  });
});

it('a thousand files are open with a few descriptors, and are the files that they were', async () => {
  const many = join(folder, 'many');
  mkdirSync(many);
  const count = 1000;
  for (let k = 0; k < count; k++) writeFileSync(join(many, `${1.7e9 + k}`), RAW_HEAD + raw(k, 2));
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const { tables, close } = await loadTables(sourcesOf(many), 0);
  expect(descriptors() - before).toBeLessThan(300);
  let rows = 0;
  for (const { part } of tables[0].pieces) for (const step of part.read([0])) rows += step.rows;
  expect([tables[0].pieces.length, rows]).toEqual([count, 2 * count]);
  const first = tables[0].pieces[0].part;
  renameSync(join(many, `${1.7e9 + 1}`), join(many, `${1.7e9}`));
  expect(() => [...first.read([0])]).toThrow(/was replaced by another file/);
  close();
});
