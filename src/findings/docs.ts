/** The tables of docs/findings.md, made of the declarations of the rules. */
import { type FindingRule, type Threshold, whole } from './finding.ts';
import { RULE_GROUPS } from './rules.ts';

const cell = (text: string) => text.replaceAll('|', '\\|');

function beginning({ value, unit }: Threshold): string {
  if (unit === 'share') return `${Number((100 * value).toPrecision(2))} %`;
  const number = value >= 1000 ? whole(value) : String(value);
  if (unit === '') return number;
  const noun = /^\{(.*)\}$/.exec(unit)?.[1];
  return `${number} ${noun === undefined ? unit : `${noun}${value === 1 ? '' : 's'}`}`;
}

function ruleText({ name, title, looks, thresholds, knob }: FindingRule): string {
  const rows = Object.values(thresholds).map(
    (one) => `| ${beginning(one)} | ${cell(one.means)} | ${cell(one.source)} |`,
  );
  const table = ['| from | meaning | source |', '|---|---|---|', ...rows];
  return [
    `### ${name}: ${title}`,
    looks,
    ...(rows.length > 0 ? [table.join('\n')] : []),
    ...(knob === '' ? [] : [`**Change**: ${knob}`]),
  ].join('\n\n');
}

/** All rules by group, as Markdown. */
export const rulesText = (): string =>
  RULE_GROUPS.map(({ title, rules }) => [`## ${title}`, ...rules.map(ruleText)].join('\n\n')).join(
    '\n\n',
  );
