/**
 * Names that mean something to SQL, HTML, JSON, paths, terminals or JavaScript, in every place that takes one: recordings open, the API answers, and nothing that
 * a file says is taken for more than text.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { label, type Schema } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { ask } from '../live/support/ask.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { Random, seedOf } from './random.ts';

const folder = mkdtempSync(join(tmpdir(), 'fuzz-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Written by nobody unless something that was to be text has been run. */
const PROOF = join(folder, 'proof');
/** What no line that is shown may have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant.
const CONTROLS = /[\u0000-\u001f]/;
const HOSTILE = [
  `x'; COPY (SELECT 1) TO '${PROOF}'; --`,
  `x"; COPY (SELECT 1) TO '${PROOF}'; --`,
  '<script>window.hacked=1</script>',
  '<img src=x onerror=window.hacked=1>',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
  '__proto__',
  'constructor',
  'toString',
  '../../../etc/passwd',
  'a\u0000b',
  'a\u001b[2Jb',
  'a\nb\r\nc',
  '\u202eabc',
  '\ufeffabc',
  '\ud800',
  'select',
  'recording',
  'main',
  '=1+1',
  '%s%n%00',
  '{{7*7}}',
  'é😀',
  ' ',
  'x'.repeat(5000),
];

const LABELS: Schema = {
  ...{ name: 'sim_thread_note', domain: 'pe', help: 'what a thread says' },
  metrics: [{ ...ROSS_PE.metrics[0], key: 'real_time', cell: 'f64' }, label('note', 'text')],
};

const samples = [0, 1, 2, 3].flatMap((k) =>
  [0, 1].map((pe) => ({
    ...{ pe_id: pe, real_time: k + 1, mode: 'gvt', gvt: 10 * (k + 1), events_processed: 100 },
  })),
);

/** A recording in which every name is `name`. */
function recordingWith(name: string, place: string): string {
  const json = JSON.stringify(name);
  const word = name.replace(/\s/g, '_').slice(0, 300);
  return writeFolder(join(folder, place), {
    'recording.json': recordingOf({
      error: name,
      madeBy: { command: [name, name], triscope: name, node: name },
      hosts: [{ name, platform: name, arch: name, cpus: 2, cpuModel: name, memory: 1 }],
      pes: [0, 1].map((pe) => placeOf({ pe, host: name, cpu: pe })),
    }),
    'extra.frames': framesOf(
      batchOf(ROSS_PE, samples),
      batchOf(
        LABELS,
        HOSTILE.map((note, k) => ({ real_time: k, note })),
      ),
    ),
    'node/h1/1': `${rawStats(word, [
      { time: NOON, cpus: [{ user: 1 }, {}] },
      { time: NOON + 1, cpus: [{ user: 50 }, {}] },
    ])}\n${NOON + 2}.000000 ${word} ${word}\n%begin ${word}\ncpu ${word} 1 2 3 4 5 6 7\n`,
    'app.report': `GEOPM Version: 3.1.0\nStart Time: 2026-03-01T12:00:00.0+0000\nProfile: ${json}\nAgent: ${json}\nPolicy: {}\n\nHosts:\n  ${json}:\n    Regions:\n    -\n      region: ${json}\n      hash: 0x1\n      runtime (s): 1\n      count: 1\n      ${json}: 2\n    Application Totals:\n      runtime (s): 1\n`,
    'app.trace': `# geopm_version: 3.1.0\n# start_time: 2026-03-01T12:00:00.0+0000\n# profile_name: ${json}\n# node_name: ${word}\n# agent: ${word}\nTIME|CPU_ENERGY|REGION_HASH\n0.5|1|0x1\n1|2|0x1\n`,
  });
}

describe('recordings with hostile names', () => {
  it('open as tables, or are refused with one line', async () => {
    // Of each kind one; labels are all of them.
    for (const k of [0, 1, 2, 6, 9, 10, 11, 12, 15, 17, 24]) {
      const name = HOSTILE[k];
      try {
        const recording = await openRecording(recordingWith(name, `open-${k}.tri`), {});
        try {
          const [{ n }] = await recording.query('SELECT count(*)::INTEGER AS n FROM ross_pe');
          expect(n).toBe(samples.length);
          const rows = await recording.query('SELECT note FROM sim_thread_note ORDER BY real_time');
          expect(rows).toHaveLength(HOSTILE.length);
        } finally {
          await recording.close();
        }
      } catch (error) {
        const { name: kind, message } = error as Error;
        // One that names the file, and shows nothing that a terminal would obey.
        expect
          .soft(`${kind} ${message}`, JSON.stringify(name))
          .toMatch(/^\w*Error .*open-\d+\.tri/);
        expect.soft(CONTROLS.test(message), JSON.stringify(message)).toBe(false);
      }
    }
    expect(existsSync(PROOF)).toBe(false);
  });
});

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly parameters?: readonly { readonly name: string }[] }>>
    >
  >;
}

/** What may be answered. 500 is none of it. */
const STATUS = [200, 204, 304, 400, 403, 404, 409, 410, 413, 414, 415, 422, 429, 431, 503];

describe('the API', () => {
  it('answers hostile values of every parameter of every route with data or one line', async () => {
    const server: LiveServer = await startServer({
      recording: recordingWith(HOSTILE[0], 'served.tri'),
      recordings: [recordingWith(HOSTILE[2], 'other.tri')],
    });
    const token = new URL(server.url).searchParams.get('token');
    const get = (path: string, query: readonly (readonly [string, string])[]) => {
      const all = new URLSearchParams(Object.fromEntries(query));
      if (token !== null) all.set('token', token);
      return ask(server.port, `${path}?${all}`);
    };
    const random = new Random(seedOf('api', 1));
    try {
      const { paths } = JSON.parse(String((await get('/api/openapi.json', [])).body)) as Described;
      expect(Object.keys(paths).length).toBeGreaterThan(15);
      for (const [path, methods] of Object.entries(paths)) {
        // Streams have no end.
        if (methods.get === undefined || path.startsWith('/live')) continue;
        const names = (methods.get.parameters ?? []).map(({ name }) => name);
        for (let n = 0; n < 1 + 2 * names.length; n++) {
          const query = names
            .filter(() => random.below(2) === 0)
            .map((name) => [name, random.of([...HOSTILE, ...NUMBERS])] as const);
          const { status, body } = await get(path, query);
          const asked = `${path} ${JSON.stringify(query).slice(0, 300)}: ${String(body).slice(0, 200)}`;
          expect.soft(STATUS, asked).toContain(status);
          if (status < 400) continue;
          const text = String(body).trim();
          const { error } = text.startsWith('{')
            ? (JSON.parse(text) as { error: string })
            : { error: text };
          expect
            .soft(CONTROLS.test(error) || error === '' || / {4}at /.test(error), asked)
            .toBe(false);
        }
      }
      expect((await get('/api/facts', [])).status).toBe(200);
      expect(existsSync(PROOF)).toBe(false);
    } finally {
      await server.close();
    }
  });
});

const NUMBERS = [
  '-1',
  '0',
  '1e999',
  'NaN',
  '',
  '9007199254740993',
  '-0',
  '0x10',
  '1e-320',
  '99999999',
];
