/** The tables of docs/node/jobs.md, generated from the declarations of metrics and flags. */
import { conditionOf, JOB_FLAGS } from './flags.ts';
import { METRIC_FAMILIES } from './metrics/index.ts';
import { METADATA } from './metrics/types.ts';

const SETS: Readonly<Record<string, string>> = {
  summary: 'tacc_stats 2.3.5',
  exam: 'exams of tacc_stats 2.3',
  hpcperfstats: 'hpcperfstats',
  triscope: 'ours',
};

const ALL_METADATA = METADATA.map((key) => `[${key}]`).join(' + ');
const cell = (text: string) =>
  text.replaceAll(ALL_METADATA, 'the metadata operations').replaceAll('|', '\\|');

/** The metadata operations are listed once below the tables, not in each row. */
const METADATA_NOTE = `The metadata operations are ${METADATA.join(', ')} of \`llite\`, as far as the file has them.`;

function inputsOf(inputs: readonly string[]): string {
  const isMetadata = inputs.length === METADATA.length;
  return isMetadata ? '`llite`' : inputs.map((input) => `\`${input}\``).join(', ');
}

/** Metrics that are not one sum over another, with the reason. */
function others(): string {
  const reasons = new Map<string, string[]>();
  for (const { name, noQuotient } of METRIC_FAMILIES.flatMap(({ metrics }) => metrics)) {
    if (noQuotient === undefined) continue;
    reasons.set(noQuotient, [...(reasons.get(noQuotient) ?? []), name]);
  }
  const lines = [...reasons].map(([reason, names]) => {
    const all = names.map((name) => `\`${name}\``).join(', ');
    return `* ${all}: ${reason}.`;
  });
  return [
    'All metrics but these are declared as one sum over another, from which their value, their course in time and their formula follow:',
    lines.join('\n'),
  ].join('\n\n');
}

/** Metrics by family, then flags, as Markdown. */
export function formulas(): string {
  const families = METRIC_FAMILIES.map(({ title, set, metrics }) => {
    const rows = metrics.map(({ name, unit, formula, inputs, note = '' }) => {
      const said = note === '' ? formula : `${formula}. ${note}`;
      return `| \`${name}\` | ${unit} | ${cell(said)} | ${inputsOf(inputs)} |`;
    });
    return [
      `### ${title} (${SETS[set]})`,
      '',
      '| metric | unit | formula | inputs |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n');
  });
  const flags = JOB_FLAGS.map((flag) => {
    const where = flag.queue === undefined ? '' : `, in queues like ${flag.queue.source}`;
    return `| \`${flag.name}\` | \`${flag.metric}\` | ${conditionOf(flag)}${where} | ${cell(flag.means)} |`;
  });
  return [
    ...families,
    METADATA_NOTE,
    others(),
    '## Flags',
    ['| flag | metric | raised if | meaning |', '|---|---|---|---|', ...flags].join('\n'),
  ].join('\n\n');
}
