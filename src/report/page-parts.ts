/** Parts of self-contained pages: style, tables and charts as HTML text. */
import { escapeText } from '../model/markup.ts';
import type { Row, Value } from '../model/row.ts';
import type { Chart } from './chart.ts';
import { svgOf } from './svg.ts';

const STYLE = `
:root { color-scheme: light dark; --fg: #1b1f24; --dim: #57606a; --bg: #ffffff; --card: #f6f8fa; --edge: #d0d7de;
  --problem: #b3261e; --notice: #8a5a00; --info: #0b5cad;
  --c0: #0b5cad; --c1: #b3261e; --c2: #1a7f37; --c3: #8250df; --c4: #8a5a00; --c5: #bf3989; --c6: #0f7b83; --c7: #57606a; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --dim: #9ea7b3; --bg: #0d1117; --card: #161b22; --edge: #30363d;
  --problem: #ff8f87; --notice: #e3b341; --info: #79c0ff;
  --c0: #79c0ff; --c1: #ff8f87; --c2: #7ee787; --c3: #d2a8ff; --c4: #e3b341; --c5: #ff9bce; --c6: #76e3ea; --c7: #9ea7b3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem 1.25rem 3rem; color: var(--fg); background: var(--bg);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
.dim { color: var(--dim); }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--bg); }
article { padding: .75rem 1rem; margin: .75rem 0; background: var(--card); border: 1px solid var(--edge);
  border-left: .4rem solid var(--info); border-radius: 6px; }
article.problem { border-left-color: var(--problem); } article.notice { border-left-color: var(--notice); }
.mark { font-weight: 700; } .problem .mark { color: var(--problem); } .notice .mark { color: var(--notice); }
.info .mark { color: var(--info); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .75rem; background: var(--card); border: 1px solid var(--edge); border-radius: 6px; }
svg { width: 100%; height: auto; display: block; }
.axis { font: 12px system-ui, sans-serif; fill: var(--dim); } .grid { stroke: var(--edge); }
@media (max-width: 40rem) { .axis { font-size: 17px; } }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; } .bar { fill: var(--c0); }
.interval { fill: none; stroke-width: 1.25; } .mean { fill: var(--card); stroke-width: 1.75; }
${[0, 1, 2, 3, 4, 5, 6, 7].map((k) => `.c${k} { stroke: var(--c${k}); }${k < 4 ? '' : ` .line.c${k} { stroke-dasharray: 6 3; }`}`).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; margin: .5rem 0 0; list-style: none; font-size: .85rem; }
.legend svg { display: inline-block; width: 1.5rem; height: .6rem; margin-right: .35rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--edge); text-align: left; }
th.number, td.number { text-align: right; }
details { margin-top: .5rem; } summary { cursor: pointer; color: var(--dim); }
@media print { article, figure { break-inside: avoid; } }
`;

/** Rows of a table of evidence or of a chart that the page holds. */
const MOST_ROWS = 100;

function cellText(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') {
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  }
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
}

const isNumber = (value: Value): boolean =>
  typeof value === 'number' || typeof value === 'bigint' || value === null;

export function tableHtml(rows: readonly Row[], caption: string): string {
  if (rows.length === 0) return '';
  const names = Object.keys(rows[0]);
  const number = names.map((name) => rows.every((row) => isNumber(row[name] ?? null)));
  const marked = (k: number) => (number[k] ? ' class="number"' : '');
  const head = names.map((name, k) => `<th scope="col"${marked(k)}>${escapeText(name)}</th>`);
  const body = rows.slice(0, MOST_ROWS).map((row) => {
    const cells = names.map((name, k) => {
      return `<td${marked(k)}>${escapeText(cellText(row[name] ?? null))}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const more =
    rows.length > MOST_ROWS
      ? `<p class="dim">${rows.length - MOST_ROWS} more rows are left out.</p>`
      : '';
  return `<div class="wide" tabindex="0" role="region" aria-label="${escapeText(caption)}"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>${more}`;
}

function legendHtml(chart: Chart): string {
  if (chart.kind !== 'lines' || chart.series.length < 2) return '';
  const items = chart.series.map(
    ({ name }, k) =>
      `<li><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line c${k % 8}" d="M0 4L24 4"/></svg>${escapeText(name)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** The numbers of a chart: a row a time, a column a line. */
function chartRows(chart: Chart): Row[] {
  if (chart.kind === 'bars')
    return chart.bars.map(({ name, value }) => ({ name, [chart.unit]: value }));
  const time = chart.along ?? (chart.over === '' ? 'virtual time' : `t, ${chart.over}`);
  const byTime = new Map<number, Record<string, Value>>();
  for (const { name, points, intervals = [] } of chart.series) {
    const half = new Map(intervals.map(([x, low, high]) => [x, (high - low) / 2]));
    for (const [x, y] of points) {
      const row = byTime.get(x) ?? { [time]: chart.words?.[x] ?? x };
      byTime.set(x, row);
      row[name] = y;
      if (intervals.length > 0) row[`± ${name}`] = half.get(x) ?? null;
    }
  }
  const names = chart.series.flatMap(({ name, intervals = [] }) =>
    intervals.length > 0 ? [name, `± ${name}`] : [name],
  );
  return [...byTime]
    .sort((a, b) => a[0] - b[0])
    .map(([, row]) =>
      Object.fromEntries([time, ...names].map((name) => [name, row[name] ?? null])),
    );
}

export const chartHtml = (chart: Chart): string =>
  `<figure><h3>${escapeText(chart.title)} <span class="dim">${escapeText(chart.unit)}</span></h3>${svgOf(chart)}${legendHtml(chart)}
<details><summary>Numbers</summary>${tableHtml(chartRows(chart), `Numbers of ${chart.title}`)}</details></figure>`;

/** A page of its own, with the texts of `body`, which are escaped. @param madeBy what made it */
export function pageHtml(title: string, body: string, madeBy: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="generator" content="${escapeText(madeBy)}">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
<footer><p class="dim">${escapeText(madeBy)}</p></footer>
</body>
</html>
`;
}
