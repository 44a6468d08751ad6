/**
 * A report as one self-contained page: no scripts, no fonts, no network (its content security policy forbids them). It follows
 * the reader's theme, prints well, and every chart has its numbers beside it.
 */
import { type Finding, notExaminedText, nothingFound } from '../findings/index.ts';
import { escapeText } from '../model/markup.ts';
import type { RecordingReport } from './gather.ts';
import { chartHtml, pageHtml, tableHtml } from './page-parts.ts';

function findingHtml({ rule, severity, sentence, evidence, advice }: Finding): string {
  const sql = evidence.sql === '' ? '' : `<pre><code>${escapeText(evidence.sql)}</code></pre>`;
  const formula =
    evidence.formula === undefined ? '' : `<p><code>${escapeText(evidence.formula)}</code></p>`;
  const todo = advice === '' ? '' : `<p><strong>What to do:</strong> ${escapeText(advice)}</p>`;
  return `<article class="${severity}"><p><span class="mark">${severity}</span> <span class="dim">${escapeText(rule)}</span></p>
<p>${escapeText(sentence)}</p>${todo}
<details><summary>Evidence</summary>${formula}${sql}${tableHtml(evidence.rows, `Evidence of ${rule}`)}</details></article>`;
}

const section = (title: string, body: string): string =>
  body === '' ? '' : `<section><h2>${escapeText(title)}</h2>${body}</section>\n`;

/** One recording's part of the page. */
function recordingHtml({ facts, verdict, tables, charts }: RecordingReport): string {
  const { findings, notExamined } = verdict;
  const said = (name: string) => (facts[name] === null ? '' : String(facts[name] ?? ''));
  const lines = [
    [said('started'), said('state')].filter((text) => text !== '').join(', '),
    said('command'),
  ].filter((text) => text !== '');
  const found =
    findings.length === 0
      ? `<p>${nothingFound(verdict)}</p>`
      : findings.map(findingHtml).join('\n');
  const open = notExaminedText(notExamined);
  const also = open === '' ? '' : `<p class="dim">${escapeText(open)}</p>`;
  return `<h1>${escapeText(said('name'))}</h1>
${lines.map((line) => `<p class="dim">${escapeText(line)}</p>`).join('\n')}
${section('Findings', found + also)}${section('Charts', charts.length === 0 ? '' : `<div class="charts">${charts.map(chartHtml).join('\n')}</div>`)}${tables.map(({ title, rows }) => section(title, tableHtml(rows, title))).join('')}`;
}

/** The whole page. Texts of recordings are data: all of them are escaped. */
export function htmlPage(reports: readonly RecordingReport[], madeBy: string): string {
  const title = reports.map(({ facts }) => String(facts.name)).join(', ');
  return pageHtml(`${title}: report`, reports.map(recordingHtml).join('\n'), madeBy);
}
