/** What a report says by all its renderers, of one reading of the recording. */
import { jsonOf } from '../../src/cli/commands/report.ts';
import { reportText } from '../../src/cli/report-text.ts';
import { jsonText } from '../../src/cli/result-rows.ts';
import { gather, htmlPage } from '../../src/report/index.ts';
import { CPU_SHARES, counting, number, type Place, placed, type Row, type Say } from './place.ts';
import { exact, printed, type Seen } from './seen.ts';
import { sentences } from './sentences.ts';

/** Names of columns of a report's tables. */
const REGION_COLUMNS: Readonly<Record<string, string>> = {
  'runtime s': 'runtime',
  'sync-runtime s': 'sync_runtime',
  visits: 'count',
  'package energy J': 'package_energy',
  'power W': 'power',
  'frequency %': 'frequency_percent',
};

/** A row of one of a report's tables, by the names of its columns. */
function tableRow(table: string, row: Row, say: Say): void {
  if (table === 'PEs') {
    const pe = `PE ${row.pe}`;
    if (row.events !== undefined) say('events handled', pe, row.events);
    // Beside CPUs, shares are of the windows that the node was sampled in.
    if (row.events !== undefined) say('rolled back %', pe, row['rolled back %']);
  } else if (table === 'Regions') {
    for (const [name, key] of Object.entries(REGION_COLUMNS)) {
      if (row[name] !== undefined && row[name] !== null)
        say(key, placed(row.region, row.host), row[name]);
    }
  } else if (table === 'Hosts') {
    say('cpus', String(row.host), row.cpus);
    for (const share of CPU_SHARES) say(share, String(row.host), row[share]);
  }
}

/** A report by all its renderers: `--json`, its page, and the text, of one reading of the recording. */
export async function reportSays(place: Place): Promise<Seen[]> {
  const made = await gather(place.path, { charts: true });
  const report = JSON.parse(jsonText(jsonOf(made))) as Row & { findings: Row[] };
  const found: Seen[] = [];
  const say: Say = (measure, entity, value) =>
    found.push(exact('--json', measure, entity, number(value)));
  for (const [key, table] of [
    ['pes', 'PEs'],
    ['regions', 'Regions'],
    ['hosts', 'Hosts'],
  ]) {
    for (const row of (report[key] ?? []) as Row[]) tableRow(table, row, say);
  }
  for (const { sentence } of report.findings) found.push(...sentences('--json', String(sentence)));
  const page = htmlPage([made], 'a test');
  if (counting(place) !== undefined && !page.includes('<h3>Committed events')) {
    throw new Error('the HTML report draws no events, by whatever time');
  }
  return [...found, ...htmlSays(page), ...textSays(reportText(made, false))];
}

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

function htmlSays(text: string): Seen[] {
  const found = sentences('HTML', plain(text.replaceAll('<p>', ' ')));
  for (const [, title, body] of text.matchAll(
    /<section><h2>(PEs|Regions|Hosts)<\/h2>(.*?)<\/section>/gs,
  )) {
    const names = [...body.matchAll(/<th[^>]*>(.*?)<\/th>/g)].map(([, name]) => plain(name));
    for (const [, line] of body.matchAll(/<tr>(.*?)<\/tr>/g)) {
      const cells = [...line.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => plain(cell));
      if (cells.length === 0) continue;
      const row = Object.fromEntries(names.map((name, k) => [name, cells[k]]));
      tableRow(title, row, (measure, entity, value) => {
        const one = printed('HTML', measure, entity, String(value));
        // Six digits of what has more.
        found.push({ ...one, within: one.within + 1e-5 * Math.abs(one.value ?? 0) });
      });
    }
  }
  return found;
}

/** What the command prints for people. */
function textSays(out: string): Seen[] {
  const found = sentences('text', out);
  let table = '';
  let columns: { name: string; from: number; to: number }[] = [];
  let before = 0;
  for (const line of out.split('\n')) {
    if (/^(PEs|Regions|Hosts)$/.test(line)) {
      [table, columns] = [line, []];
    } else if (!line.startsWith('  ')) {
      table = '';
    } else if (table !== '' && columns.length === 0) {
      before = 0;
      columns = [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => {
        const from = before;
        before = index + name.length;
        return { name, from, to: before };
      });
    } else if (table !== '') {
      // The first column, and the host, are texts that begin under their names; numbers end there.
      const cells = [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => ({
        text,
        from: index,
        to: index + text.length,
      }));
      const row = Object.fromEntries(
        columns.map(({ name, from, to }) => [
          name,
          cells.find(
            (cell) => cell.to === to || (cell.from >= from && cell.from < to && cell.to > from),
          )?.text ?? '',
        ]),
      );
      tableRow(table, row, (measure, entity, value) => {
        const one = printed('text', measure, entity, String(value));
        // Four digits of what has more.
        found.push({ ...one, within: one.within + 5e-4 * Math.abs(one.value ?? 0) });
      });
    }
  }
  return found;
}
