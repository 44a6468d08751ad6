/** `triscope read` and `triscope info` as a user calls them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodedBytes, encodeRows, writeEvent24At } from 'triscope/formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Row, rowsOf } from '../formats/ross/support/rows.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const FOLDER = join(temporaryFolder(), 'stats-output');
const GVT = join(FOLDER, 'run-gvt.bin');
const EVENTS = join(FOLDER, 'run-evtrace.bin');
const GOLDEN = process.env.TRISCOPE_GOLDEN;

function writeFiles(): void {
  mkdirSync(FOLDER);
  const rows = [0, 1, 2].flatMap((k) =>
    [0, 1].flatMap((pe): Row[] => {
      const common = { mode: 1, real: k / 4, virtual: k * 10, gvt: k * 10 } as const;
      const counters = { events_processed: 10, events_rolled_back: 5, efficiency: 0 };
      return [
        { ...common, kind: 0, values: { pe_id: pe, ...counters } },
        { ...common, kind: 1, values: { pe_id: pe, kp_id: 1, ...counters } },
        { ...common, kind: 2, values: { pe_id: pe, kp_id: 1, lp_id: 7 + pe, ...counters } },
      ];
    }),
  );
  const words = rowsOf(rows);
  const bytes = new Uint8Array(encodedBytes('ross-7', words, 0, words.length));
  encodeRows('ross-7', words, 0, words.length, bytes, 0);
  writeFileSync(GVT, bytes);
  const events = new Uint8Array(20 * 32);
  const view = new DataView(events.buffer);
  for (let k = 0; k < 20; k++) {
    const at = writeEvent24At(view, 32 * k, k % 2, 1, k, k + 0.5, 9, 8);
    view.setUint32(at, k, true);
    view.setFloat32(at + 4, k / 2, true);
  }
  writeFileSync(EVENTS, events);
  writeFileSync(join(FOLDER, 'notes.txt'), 'nothing to read\n');
}

const lines = (text: string) => text.trimEnd().split('\n');
const objects = (text: string) =>
  lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);

beforeAll(writeFiles);

describe('read', () => {
  it('says why nothing is printed where records do not have what is asked for', async () => {
    const { code, out, err } = await triscopeHere(['read', EVENTS, '--pe=0']);
    expect([code, out]).toEqual([0, '']);
    expect(err).toBe(
      'triscope: records of kind event do not say what --pe asks for, and are left out; events have LPs: --lp, with the LPs that lp-mapping.txt gives to the PE\n',
    );
    expect((await triscopeHere(['read', EVENTS, '--lp=77'])).err).toBe('');
  });

  it('prints one JSON object per record, in file order', async () => {
    const { code, out, err } = await triscope(['read', GVT, '--format', 'json']);
    expect([code, err]).toEqual([0, '']);
    const rows = objects(out);
    expect(rows.map(({ kind, pe_id }) => `${kind}${pe_id}`)).toEqual(
      [0, 1, 2].flatMap(() => ['pe0', 'kp0', 'lp0', 'pe1', 'kp1', 'lp1']),
    );
    expect(Object.keys(rows[0]).slice(0, 5)).toEqual([
      'kind',
      'virtual_time',
      'real_time',
      'pe_id',
      'events_processed',
    ]);
    expect(rows[17]).toMatchObject({ virtual_time: 20, real_time: 0.5, lp_id: 8, kp_id: 1 });
  });

  it('filters by kind, ids and virtual time', async () => {
    const args = ['read', GVT, '--json', '--kind=lp', '--pe=1', '--from=5', '--to=10'];
    expect(objects((await triscopeHere(args)).out)).toMatchObject([{ lp_id: 8, virtual_time: 10 }]);
    const none = await triscopeHere(['read', GVT, '--kind=lps']);
    expect([none.out, none.err]).toEqual([
      '',
      'triscope: no record of kind lps passes; there are also pe, kp, lp\n',
    ]);
    const some = await triscopeHere(['read', EVENTS, '--json', '--lp=0', '--to=4.5']);
    expect(objects(some.out).map((row) => row.virtual_recv_time)).toEqual([0.5, 2.5, 4.5]);
  });

  it('prints CSV: one table, empty cells where a kind has no such column', async () => {
    const { out } = await triscopeHere(['read', GVT, '--csv']);
    const [head, ...rows] = lines(out).map((line) => line.split(','));
    expect(head.slice(0, 5)).toEqual(
      Object.keys({ kind: 0, virtual_time: 0, real_time: 0, pe_id: 0, events_processed: 0 }),
    );
    expect(rows).toHaveLength(18);
    for (const row of rows) expect(row).toHaveLength(head.length);
    expect([rows[0][head.indexOf('lp_id')], rows[2][head.indexOf('lp_id')]]).toEqual(['', '7']);
    const named = await triscopeHere(['read', GVT, '--format=csv', '--names=reader', '--kind=pe']);
    expect(lines(named.out)[0]).toMatch(/^kind,VT,RT,PE,event_proc,ev_abort,ev_rb,rb_total,/);
  });

  it('decodes models’ bytes by a layout file', async () => {
    const layout = join(FOLDER, '..', 'layout.json');
    const fields = [
      { name: 'n', type: 'u32' },
      { name: 'half', type: 'f32' },
    ];
    writeFileSync(layout, JSON.stringify(fields));
    const json = await triscopeHere(['read', EVENTS, '--json', '--layout', layout]);
    expect(objects(json.out)[3]).toMatchObject({
      source_lp: 1,
      model_data_size: 8,
      model_data: { n: 3, half: 1.5 },
    });
    const hex = await triscopeHere(['read', EVENTS, '--json']);
    expect(objects(hex.out)[3].model_data).toBe('030000000000c03f');
    const csv = await triscopeHere(['read', EVENTS, '--format=csv', '--layout', layout]);
    expect(lines(csv.out)[4]).toBe('event,1,1,3,3.5,9,8,,3,1.5');
    writeFileSync(layout, JSON.stringify([{ name: 'n', type: 'word' }]));
    const wrong = await triscopeHere(['read', EVENTS, '--layout', layout]);
    expect(wrong.code).toBe(3);
    expect(wrong.err).toMatch(/layout\.json: field n: type must be one of u8, u16, u32/);
  });

  it('counts events by source, destination and virtual time', async () => {
    const { out } = await triscopeHere(['read', EVENTS, '--bin=10', '--json']);
    expect(objects(out)).toEqual(
      [0, 10].flatMap((bin_start) =>
        [0, 1].map((source_lp) => ({ source_lp, destination_lp: 1, bin_start, events: 5 })),
      ),
    );
  });

  it('delivers what is before damage, then one line; --salvage goes on', async () => {
    const bad = join(FOLDER, '..', 'bad-gvt.bin');
    const bytes = Buffer.concat([readGvt().subarray(0, 256), Buffer.from('damage!'), readGvt()]);
    writeFileSync(bad, bytes);
    const { code, out, err } = await triscope(['read', bad, '--json']);
    expect([code, lines(out).length]).toEqual([3, 3]);
    expect(err).toMatch(
      /^triscope: .*bad-gvt\.bin: byte 256: expected a sample .*; .*--salvage.*\n$/,
    );
    const salvaged = await triscopeHere(['read', bad, '--json', '--salvage']);
    expect([salvaged.code, lines(salvaged.out).length]).toEqual([0, 21]);
    expect(salvaged.err).toMatch(/byte 256: .*skipped 7 bytes/);
  });

  it('ends quietly when its reader goes away', () => {
    const bin = fileURLToPath(new URL('../../bin/triscope', import.meta.url));
    const many = Array(400).fill(`"${GVT}"`).join(' ');
    const command = `"${process.execPath}" "${bin}" read ${many} --json | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', command]);
    expect([String(stdout).split('\n').length, String(stderr)]).toEqual([3, '']);
    expect(String(stdout)).toMatch(/\n0\n$/);
  });

  it('says what is wrong with a call', async () => {
    const calls: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['read'], 2, /which file\?/],
      [['read', GVT, '--fromat=json'], 2, /unknown option --fromat; did you mean --format\?/],
      [['read', GVT, '--format=xml'], 2, /must be one of text, json, csv/],
      [['read', GVT, '--pe=x'], 2, /--pe=x: must be numbers/],
      [['read', join(FOLDER, 'gone.bin')], 3, /gone\.bin: .*no such file/],
      [['read', join(FOLDER, 'notes.txt')], 3, /notes\.txt: its content is of no format/],
      [['info', join(FOLDER, 'notes.txt')], 3, /notes\.txt: its content is of no format/],
    ];
    for (const [args, exit, message] of calls) {
      const { code, out, err } = await triscopeHere(args);
      expect([code, out, lines(err).length]).toEqual([exit, '', 1]);
      expect(err).toMatch(message);
    }
  });
});

const readGvt = () => {
  const rows = spawnSync('cat', [GVT]).stdout;
  return rows;
};

describe('info', () => {
  it('describes a folder’s files', async () => {
    const { code, out } = await triscopeHere(['info', FOLDER, '--json']);
    expect(code).toBe(0);
    const { files } = JSON.parse(out);
    expect(files).toHaveLength(2);
    expect(files[0]).toMatchObject({
      path: EVENTS,
      format: 'ross',
      records: { event: 20 },
      entities: { lps: 2 },
      from: { virtual_time: 0.5, real_time: 9 },
      to: { virtual_time: 19.5, real_time: 9 },
      model_bytes: { 8: 20 },
      suspect: [],
    });
    expect(files[1]).toMatchObject({
      path: GVT,
      era: 'ROSS v7.0 to v8.0, samples',
      records: { pe: 6, kp: 6, lp: 6 },
      entities: { pes: 2, kps: 2, lps: 2 },
      from: { virtual_time: 0, real_time: 0 },
      to: { virtual_time: 20, real_time: 0.5 },
      samples_per_pe: { 0: 3, 1: 3 },
    });
  });

  it('names suspect spots, and ends with 3 at damage', async () => {
    const cut = join(FOLDER, '..', 'cut-gvt.bin');
    writeFileSync(cut, readGvt().subarray(0, 700));
    const { code, out } = await triscopeHere(['info', cut]);
    expect(code).toBe(3);
    expect(out).toMatch(
      /suspect +byte 640: expected a record of at least 68 bytes, but the file ends after 60/,
    );
  });

  it.skipIf(!GOLDEN)(
    'reads every genuine run without an option (needs TRISCOPE_GOLDEN)',
    async () => {
      const { code, out, err } = await triscopeHere(['info', join(GOLDEN ?? '', 'ross'), '--json']);
      expect([code, err]).toEqual([0, '']);
      const { files } = JSON.parse(out);
      expect(files.length).toBeGreaterThanOrEqual(35);
      for (const { format, because } of files) {
        expect(format).toBe('ross');
        expect(because).not.toBe('');
      }
    },
  );
});
