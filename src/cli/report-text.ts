/** A report for the terminal. */
import { type Finding, notExaminedText, nothingFound } from '../findings/index.ts';
import { short } from '../model/measures/index.ts';
import type { Row, Value } from '../query/index.ts';
import type { Chart, RecordingReport } from '../report/index.ts';
import { cut, widthOf, wrapped } from './fit.ts';
import { textTable } from './result-rows.ts';
import { sparkline } from './sparkline.ts';
import { figure, painter } from './table.ts';

/** Texts of recordings are data: what would steer a terminal is taken out. */
const plain = (text: unknown): string => String(text).replace(/\p{Cc}+/gu, ' ');

/** Rows of evidence that a terminal shows. */
const MOST_ROWS = 20;

export function reportText(
  { facts, verdict, tables, charts }: RecordingReport,
  evidence: boolean,
): string {
  const { findings, notExamined } = verdict;
  const paint = painter(process.stdout);
  const state = facts.state === null || facts.state === 'finished' ? '' : `, ${plain(facts.state)}`;
  const when = facts.started === null ? '' : ` of ${facts.started}`;
  const lines = [paint.bold(`${plain(facts.name)}${when}${state}`)];
  if (facts.command !== null) lines.push(paint.dim(`  ${plain(facts.command)}`));
  lines.push('');
  for (const finding of findings) {
    const mark = finding.severity === 'problem' ? paint.bad('problem') : finding.severity;
    lines.push(...said(mark, finding));
    if (evidence) lines.push(...evidenceLines(finding));
  }
  if (findings.length === 0) {
    const none = 'Nothing was found: there are no samples of PEs, regions or hosts to judge.';
    lines.push(tables.length > 0 ? nothingFound(verdict) : none);
  }
  const open = notExaminedText(notExamined.filter(({ applies }) => applies || evidence));
  if (open !== '') lines.push('', ...wrapped(open, widthOf(process.stdout)).map(paint.dim));
  const courses = charts.flatMap(courseLines);
  if (courses.length > 0) lines.push('', paint.bold('Courses'), ...courses);
  for (const { title, rows } of tables) {
    lines.push('', paint.bold(title), rowsText(rows).trimEnd());
  }
  return `${lines.join('\n')}\n`;
}

/** The sentence, after its severity, and what to do, as wide as the terminal. */
function said(mark: string, { severity, sentence, advice }: Finding): string[] {
  const width = widthOf(process.stdout);
  // The mark may be coloured: its length is the severity's.
  const [first, ...rest] = wrapped(`${severity}: ${plain(sentence)}`, width);
  const tail = wrapped(rest.join(' '), width, '  ');
  return [
    mark + first.slice(severity.length),
    ...(rest.length > 0 ? tail : []),
    ...(advice === '' ? [] : wrapped(advice, width, '  ')),
  ];
}

/** Characters of a course, and of what stands before and after it. */
const COURSE = { most: 60, least: 20, beside: 58 };

/** How numbers went over the run; the blocks begin at 0 and end at the number after them. */
function courseLines(chart: Chart): string[] {
  if (chart.kind !== 'lines') return [];
  const room = widthOf(process.stdout) - COURSE.beside;
  const width = Math.max(COURSE.least, Math.min(COURSE.most, room));
  const all = chart.series.flatMap(({ points }) => points.map(([, y]) => y ?? 0));
  const most = all.reduce((top, y) => Math.max(top, y), 0);
  const top = most < 1000 ? figure(Number(most.toPrecision(3))) : short(most);
  return chart.series.map(({ name, points }) => {
    const values = points.map(([, y]) => y ?? Number.NaN);
    const head = cut(name === chart.title ? name : `${chart.title}, ${plain(name)}`, 34).padEnd(34);
    return `  ${head}  ${sparkline(values, most, width).padEnd(width)}  ${top} ${chart.unit}`.trimEnd();
  });
}

function evidenceLines({ evidence: { sql, rows, formula } }: Finding): string[] {
  const shown = rows.slice(0, MOST_ROWS);
  const more = rows.length > MOST_ROWS ? [`    ${rows.length - MOST_ROWS} more rows`] : [];
  return [
    '',
    ...(formula === undefined ? [] : [`    ${formula}`, '']),
    ...(sql === '' ? [] : [...sql.split('\n').map((line) => `    ${line}`), '']),
    ...(shown.length === 0 ? [] : [rowsText(shown, '    ').trimEnd(), ...more, '']),
  ];
}

function rowsText(rows: readonly Row[], indent = '  '): string {
  const names = Object.keys(rows[0]);
  const columns = names.map((name) => ({
    name,
    type: rows.some((row) => typeof row[name] === 'string') ? 'VARCHAR' : 'DOUBLE',
  }));
  const rounded = (value: Value) => {
    if (typeof value === 'string') return plain(value);
    return typeof value === 'number' && !Number.isInteger(value)
      ? Number(value.toPrecision(4))
      : value;
  };
  return textTable(
    columns,
    rows.map((row) => names.map((name) => rounded(row[name] ?? null))),
    indent,
  );
}
