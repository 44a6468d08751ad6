/** A report for the terminal. */
import type { Finding } from '../findings/index.ts';
import type { Row, Value } from '../query/index.ts';
import type { RecordingReport } from '../report/index.ts';
import { textTable } from './result-rows.ts';
import { painter } from './table.ts';

/** Texts of recordings are data: what would steer a terminal is taken out. */
const plain = (text: unknown): string => String(text).replace(/\p{Cc}+/gu, ' ');

/** Rows of evidence that a terminal shows. */
const MOST_ROWS = 20;

export function reportText(
  { facts, findings, tables }: RecordingReport,
  evidence: boolean,
): string {
  const paint = painter(process.stdout);
  const state = facts.state === null || facts.state === 'finished' ? '' : `, ${plain(facts.state)}`;
  const when = facts.started === null ? '' : ` of ${facts.started}`;
  const lines = [paint.bold(`${plain(facts.name)}${when}${state}`)];
  if (facts.command !== null) lines.push(paint.dim(`  ${plain(facts.command)}`));
  lines.push('');
  for (const finding of findings) {
    const mark = finding.severity === 'problem' ? paint.bad('problem') : finding.severity;
    lines.push(`${mark}: ${plain(finding.sentence)}`);
    if (finding.advice !== '') lines.push(`  ${finding.advice}`);
    if (evidence) lines.push(...evidenceLines(finding));
  }
  if (findings.length === 0) {
    const nothing = 'there are no samples of PEs, regions or hosts to judge';
    lines.push(
      `Nothing was found: ${tables.length > 0 ? 'all is well as far as these files tell' : nothing}.`,
    );
  }
  for (const { title, rows } of tables) {
    lines.push('', paint.bold(title), rowsText(rows).trimEnd());
  }
  return `${lines.join('\n')}\n`;
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
