/**
 * Names that mean something to SQL, HTML, JSON, paths, terminals or JavaScript, in every place that takes one: recordings open, the API answers, and nothing that
 * a file says is taken for more than text.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, describe, expect, it } from 'vitest';
import { ask } from '../live/support/ask.ts';
import { openHere } from '../query/support/open-here.ts';
import { HOSTILE, PROOF, recordingWith, samples } from './named-recording.ts';
import { Random, seedOf } from './random.ts';

const folder = mkdtempSync(join(tmpdir(), 'fuzz-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What no line that is shown may have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant.
const CONTROLS = /[\u0000-\u001f]/;
describe('recordings with hostile names', () => {
  it('open as tables, or are refused with one line', async () => {
    // Of each kind one; labels are all of them.
    for (const k of [0, 1, 2, 6, 9, 10, 11, 12, 15, 17, 24]) {
      const name = HOSTILE[k];
      try {
        const recording = await openHere(recordingWith(name, join(folder, `open-${k}.tri`)));
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
      recording: recordingWith(HOSTILE[0], join(folder, 'served.tri')),
      recordings: [recordingWith(HOSTILE[2], join(folder, 'other.tri'))],
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
