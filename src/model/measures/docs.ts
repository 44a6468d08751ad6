/** The table of docs/measures.md, made of the declarations. */
import { DECLARED } from './declared.ts';
import { argumentsOf, type Measure, sumText } from './measure.ts';

const FACTORS: ReadonlyMap<number, string> = new Map([
  [1, ''],
  [100, '100 × '],
]);

function formula({ of, per, factor, optional }: Measure): string {
  const above = Object.keys(of).length > 1 ? `(${sumText(of, optional)})` : sumText(of, optional);
  if (per === null) return above;
  const below =
    per === 'seconds'
      ? 'seconds'
      : Object.keys(per).length > 1
        ? `(${sumText(per)})`
        : sumText(per);
  return `${FACTORS.get(factor) ?? `${factor} × `}${above} / ${below}`;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('{', '').replaceAll('}', 's');

const parameters = (one: Measure) =>
  argumentsOf(one)
    .map(({ key, isOptional }) => (isOptional ? `[${key}]` : key))
    .join(', ');

const row = (one: Measure) =>
  `| \`${one.key}(${parameters(one)})\` | ${one.label} | ${cell(one.unit)} | \`${formula(one)}\` | ${one.good ?? ''} | ${one.help}${one.estimate ? '. An estimate where it is sampled' : ''} |`;

/** A table by layer, as Markdown. */
export const measuresText = (): string =>
  DECLARED.map(({ title, measures }) =>
    [
      `## ${title}\n`,
      '| macro of SQL | label | unit | formula, over sums | good | |',
      '|---|---|---|---|---|---|',
      ...measures.map(row),
    ].join('\n'),
  ).join('\n\n');
