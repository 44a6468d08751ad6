/** `triscope report`, as a user calls it: text, JSON, and the page. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROSS_PE, ROSS_ROLLBACK } from '../../src/model/schemas/ross.ts';
import type { LineChart } from '../../src/report/chart.ts';
import { svgOf, ticks } from '../../src/report/svg.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import { barriers, executable, Web } from '../web/support/browser.ts';
import { temporaryFolder, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();
const EVIL = '</title><script>alert("1")</script>&\u0001\u001b[2J';

const samples = batchOf(
  ROSS_PE,
  [1, 2, 3, 4].flatMap((real_time) =>
    [0, 1].map((pe_id) => ({
      ...{ pe_id, real_time, mode: 'gvt', events_processed: 1000, gvt: 10 * real_time },
      events_rolled_back: 400 * pe_id,
    })),
  ),
);
const rollbacks = batchOf(ROSS_ROLLBACK, [
  { pe_id: 1, rollback_id: 1, real_time: 1, cause: 'straggler', source_pe: 0, events_undone: 9 },
]);
const path = writeFolder(join(folder, 'demo.tri'), {
  'recording.json': recordingOf({
    madeBy: { command: ['triscope', EVIL], triscope: '0.1.0', node: '20' },
  }),
  'extra.frames': framesOf(samples, rollbacks),
  'node/h1/1': rawStats(
    'h1',
    [0, 1, 2, 3, 4].map((s) => ({
      time: NOON + s,
      cpus: [{ user: 100 * s }, { user: 60 * s, steal: 40 * s }],
    })),
  ),
});

interface Printed {
  readonly recording: { readonly name: string };
  readonly findings: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly evidence: { readonly sql: string; readonly rows: readonly object[] };
  }[];
  readonly pes: readonly object[];
  readonly hosts: readonly object[];
}

describe('triscope report', () => {
  it('prints findings by severity, then tables', async () => {
    const { code, out, err } = await triscopeHere(['report', path]);
    expect([code, err]).toEqual([0, '']);
    const marks = [...out.matchAll(/^(problem|notice|info): /gm)].map(([, mark]) => mark);
    expect(marks[0]).toBe('problem');
    expect(out).not.toContain('\u001b');
    expect(marks).toEqual([...marks].sort((a, b) => order(a) - order(b)));
    expect(out).toMatch(/^problem: PE 1 could not run for 40 % of the time/m);
    expect(out).toMatch(/^PEs\n {2}pe {2}host {2}cpu .*waiting %\n {3}0 {2}h1/m);
    expect(out).toMatch(
      /^Hosts\n {2}host {2}cpus .*stolen % {2}idle %\n {2}h1 +2 +4 +80 +0 +20 +0$/m,
    );
  });

  const order = (mark: string) => ['problem', 'notice', 'info'].indexOf(mark);

  it('--json: one object; of several paths a list', async () => {
    const one = JSON.parse((await triscopeHere(['report', path, '--json'])).out) as Printed;
    expect(one.recording.name).toBe('demo');
    expect(one.findings.map(({ rule }) => rule)).toContain('stolen-cpu');
    expect(one.findings.every(({ evidence }) => evidence.rows.length > 0)).toBe(true);
    expect([one.pes.length, one.hosts.length]).toEqual([2, 1]);
    const two = JSON.parse((await triscopeHere(['report', path, path, '--json'])).out) as Printed[];
    expect(two).toEqual([one, one]);
  });

  it('gives evidence that can be asked again', async () => {
    const { findings } = JSON.parse(
      (await triscopeHere(['report', path, '--json'])).out,
    ) as Printed;
    const { sql, rows } = findings.filter(({ rule }) => rule === 'efficiency')[0].evidence;
    const { out } = await triscopeHere(['query', path, sql, '--json']);
    expect(JSON.parse(out)).toEqual(rows);
    const text = await triscopeHere(['report', path, '--evidence']);
    expect(text.out).toContain('    FROM pe_on_node GROUP BY pe_id ORDER BY pe_id');
  });

  it('says so where there is nothing to judge, and refuses what it cannot read', async () => {
    const empty = writeFolder(join(folder, 'empty.tri'), {
      'recording.json': recordingOf({ sources: [] }),
    });
    expect((await triscopeHere(['report', empty])).out).toContain(
      'Nothing was found: there are no samples of PEs, regions or hosts to judge.',
    );
    expect(await triscopeHere(['report', join(folder, 'none')])).toMatchObject({ code: 3 });
    expect(await triscopeHere(['report'])).toMatchObject({ code: 2 });
    const { code, err } = await triscopeHere(['report', path, '--htm', 'x']);
    expect([code, err]).toEqual([2, 'triscope: unknown option --htm; did you mean --html?\n']);
  });
});

describe('the page of --html', () => {
  it('holds all in one file, without scripts, its texts escaped', async () => {
    const file = join(folder, 'report.html');
    expect((await triscopeHere(['report', path, '--html', file])).code).toBe(0);
    const page = readFileSync(file, 'utf8');
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:/i);
    expect(page).toContain("default-src 'none'");
    expect(page).toContain(
      '&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;  [2J',
    );
    for (const title of ['Committed events', 'Events rolled back', 'GVT', 'Busy CPUs']) {
      expect(page).toContain(`<h3>${title} <span`);
    }
    expect(page).toContain('could not run for 40 % of the time');
    expect(page.match(/<svg [^>]*role="img"/g)).toHaveLength(5);
    // Nothing is left beside it.
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('is not there where it cannot be written whole', async () => {
    const { code, err } = await triscopeHere([
      'report',
      path,
      '--html',
      join(folder, 'no', 'a.html'),
    ]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^triscope: --html=.*a\.html: cannot be written: its folder does not exist\n$/,
    );
    mkdirSync(join(folder, 'full'));
    const file = join(folder, 'full', 'a.html');
    const bin = new URL('../../bin/triscope', import.meta.url).pathname;
    const command = `ulimit -f 8; trap '' XFSZ; exec "${process.execPath}" "${bin}" report "${path}" --html "${file}"`;
    expect(() => execFileSync('bash', ['-c', command], { stdio: 'pipe' })).toThrow(
      /cannot be written/,
    );
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(join(folder, 'full'))).toEqual([]);
  });
});

describe.skipIf(executable === undefined)('the page in a browser (needs chromium)', () => {
  it('has nothing that axe objects to, light or dark, and is as wide as a narrow window', async () => {
    const file = join(folder, 'shown.html');
    await triscopeHere(['report', path, '--html', file]);
    const web = await Web.start();
    try {
      for (const scheme of ['light', 'dark'] as const) {
        const { page } = await web.open(pathToFileURL(file).href, {
          ...{ scheme, width: 360, height: 800, until: 'body' },
        });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
        expect(await barriers(page)).toEqual([]);
      }
    } finally {
      await web.close();
    }
  });
});

describe('charts', () => {
  const lines = (points: LineChart['series'][number]['points']): LineChart => ({
    ...{ kind: 'lines', title: 'T', unit: 'u', over: 's' },
    series: [{ name: 'a', points }],
  });

  it('leave gaps where nothing was measured', () => {
    const points = [
      [0, 1],
      [1, 2],
      [2, null],
      [3, 1],
      [4, 2],
    ] as const;
    const svg = svgOf(lines(points));
    expect(/class="line c0" d="([^"]*)"/.exec(svg)?.[1].match(/[ML]/g)?.join('')).toBe('MLML');
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('draw values that are all the same, or one', () => {
    for (const points of [
      [[0, 0]],
      [
        [5, -3],
        [5, -3],
      ],
    ] as const) {
      const svg = svgOf(lines(points));
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }
  });

  it('have round ticks', () => {
    expect(ticks(0, 10, 4)).toEqual([0, 5, 10]);
    expect(ticks(0, 0.07, 4)).toEqual([0, 0.02, 0.04, 0.06]);
    expect(ticks(3, 3, 4)).toEqual([3]);
  });
});
