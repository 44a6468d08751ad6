/** `triscope report PATH`: what is slow in a recording, and a table of its PEs. */
import { parseArgs } from 'node:util';
import { type Finding, findAll } from '../../findings/index.ts';
import { type OpenRecording, openRecording, type Row, type Value } from '../../query/index.ts';
import { UsageError } from '../errors.ts';
import { jsonText, textTable } from '../result-rows.ts';
import { painter } from '../table.ts';

const USAGE = `usage: triscope report PATH [--json] [--evidence]

Says what is slow in a recording, why, and what to turn; then a table of its PEs.

  --json        one object: recording, findings with their evidence, PEs
  --evidence    the query and the rows behind each finding`;

interface Asked {
  readonly path: string;
  readonly json: boolean;
  readonly evidence: boolean;
}

/** @throws UsageError; null for --help */
function read(args: readonly string[]): Asked | null {
  const boolean = { type: 'boolean' } as const;
  const options = { help: { ...boolean, short: 'h' }, json: boolean, evidence: boolean } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return null;
    if (positionals.length !== 1) throw new Error(`which recording? ${USAGE.split('\n')[0]}`);
    return { path: positionals[0], json: values.json === true, evidence: values.evidence === true };
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

const PES_ON_NODE = `SELECT pe_id AS pe, any_value(host) AS host, any_value(cpu) AS cpu,
  sum(events_processed) / sum(seconds) AS "events/s",
  100 * sum(events_rolled_back) / greatest(1, sum(events_processed)) AS "rolled back %",
  100 * sum("user" * seconds) / sum(seconds) AS "user %",
  100 * sum(system * seconds) / sum(seconds) AS "system %",
  100 * sum(steal * seconds) / sum(seconds) AS "steal %",
  100 * sum(waiting * seconds) / sum(seconds) AS "waiting %"
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;

const PES = `SELECT pe_id AS pe, sum(events_processed) AS events,
  100 * sum(events_rolled_back) / greatest(1, sum(events_processed)) AS "rolled back %"
FROM ross_pe WHERE mode = (SELECT mode FROM ross_pe WHERE mode IN ('gvt', 'rt')
  GROUP BY mode ORDER BY count(*) DESC, mode LIMIT 1)
GROUP BY pe_id ORDER BY pe_id`;

/** The PEs' table: beside their CPUs where that is known. */
async function peRows(recording: OpenRecording): Promise<Row[]> {
  const there = await recording.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'events_processed'",
  );
  const has = (table: string) => there.some(({ name }) => name === table);
  if (has('pe_on_node')) {
    const rows = await recording.query(PES_ON_NODE);
    // A run too short for one interval of the node's counters has none.
    if (rows.length > 0) return rows;
  }
  return has('ross_pe') ? recording.query(PES) : [];
}

/** Prints it. Returns the exit code. @throws UsageError, InputError, MissingPieceError */
export async function report(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const recording = await openRecording(asked.path);
  try {
    const [facts] = await recording.query('SELECT * FROM recording');
    const findings = await findAll(recording);
    const pes = await peRows(recording);
    const { suspects } = recording;
    process.stdout.write(
      asked.json
        ? `${jsonText({ recording: facts, findings, pes, suspects } as unknown as Value)}\n`
        : reportText({ facts, findings, pes, evidence: asked.evidence }),
    );
    for (const { file, what } of suspects) process.stderr.write(`triscope: ${file}: ${what}\n`);
    return 0;
  } finally {
    await recording.close();
  }
}

interface Parts {
  readonly facts: Row;
  readonly findings: readonly Finding[];
  readonly pes: readonly Row[];
  readonly evidence: boolean;
}

function reportText({ facts, findings, pes, evidence }: Parts): string {
  const paint = painter(process.stdout);
  const state = facts.state === null || facts.state === 'finished' ? '' : `, ${facts.state}`;
  const when = facts.started === null ? '' : ` of ${facts.started}`;
  const lines = [paint.bold(`${facts.name}${when}${state}`)];
  if (facts.command !== null) lines.push(paint.dim(`  ${facts.command}`));
  lines.push('');
  for (const finding of findings) {
    const mark = finding.severity === 'problem' ? paint.bad('problem') : finding.severity;
    lines.push(`${mark}: ${finding.sentence}`);
    if (finding.advice !== '') lines.push(`  ${finding.advice}`);
    if (evidence) lines.push(...evidenceLines(finding));
  }
  if (findings.length === 0) lines.push('Nothing was found: there are no samples of PEs.');
  if (pes.length > 0) lines.push('', rowsText(pes).trimEnd());
  return `${lines.join('\n')}\n`;
}

function evidenceLines({ evidence: { sql, rows } }: Finding): string[] {
  const text = rows.length === 0 ? '' : rowsText(rows, '    ').trimEnd();
  return ['', ...sql.split('\n').map((line) => `    ${line}`), '', text, ''];
}

function rowsText(rows: readonly Row[], indent = '  '): string {
  const names = Object.keys(rows[0]);
  const columns = names.map((name) => ({
    name,
    type: rows.some((row) => typeof row[name] === 'string') ? 'VARCHAR' : 'DOUBLE',
  }));
  const rounded = (value: Value) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  return textTable(
    columns,
    rows.map((row) => names.map((name) => rounded(row[name]))),
    indent,
  );
}
