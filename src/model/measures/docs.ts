/** The table of docs/measures.md, made of the declarations. */
import { DECLARED } from './declared.ts';
import { argumentsOf, type Measure, type Weights } from './measure.ts';

const sumText = (weights: Weights, optional: readonly string[] = []) =>
  Object.entries(weights)
    .map(([key, weight], k) => {
      const sign = weight < 0 ? ' − ' : k === 0 ? '' : ' + ';
      const size = Math.abs(weight) === 1 ? '' : `${Math.abs(weight)} `;
      return `${sign}${size}${optional.includes(key) ? `[${key}]` : key}`;
    })
    .join('');

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
