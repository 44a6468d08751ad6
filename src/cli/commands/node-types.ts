/** `triscope node types`: what the node collector can collect, and what of it this machine has. */
import { formatSchema } from '../../formats/tacc/schema.ts';
import { didYouMean } from '../../model/nearest.ts';
import { flag } from '../../model/option.ts';
import { NODE_TYPES } from '../../node/types/index.ts';
import { surveyType, type TypeFacts } from '../../node/types/survey.ts';
import type { NodeType } from '../../node/types/type.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { wrapped } from '../fit.ts';
import { ROOT, rootFrom } from '../root-option.ts';
import { table } from '../table.ts';

const OPTIONS = {
  root: ROOT,
  json: flag(false, 'everything, as one object per type'),
};

/** @throws UsageError */
function typesNamed(names: readonly string[]): readonly NodeType[] {
  if (names.length === 0) return NODE_TYPES;
  return names.map((name) => {
    const type = NODE_TYPES.find((candidate) => candidate.name === name);
    if (type !== undefined) return type;
    const known = NODE_TYPES.map((candidate) => candidate.name);
    throw new UsageError(`there is no type ${name}${didYouMean(name, known)}`);
  });
}

const rounded = (microseconds: number | null) =>
  microseconds === null ? null : Math.round(10 * microseconds) / 10;

function jsonOf({ type, schema, missing, failed, devices, microseconds }: TypeFacts) {
  return {
    name: type.name,
    help: type.help,
    device: type.device,
    source: type.source,
    schema: formatSchema(schema),
    keys: schema.keys.map(({ name, kind, unit, bits }) => ({
      key: name,
      kind,
      unit,
      bits,
      help: type.metrics.find(({ key }) => key === name)?.help ?? '',
    })),
    missing,
    failed,
    devices,
    microseconds: rounded(microseconds),
  };
}

const whyNot = ({ missing, failed }: TypeFacts) => missing ?? failed;

function detailsOf(facts: TypeFacts): string {
  const { type, schema, devices, microseconds } = facts;
  const reason = whyNot(facts);
  const here =
    reason === null
      ? `here: ${devices} device${devices === 1 ? '' : 's'}, ${microseconds?.toFixed(0)} µs`
      : `not here: ${reason}`;
  const width = Math.max(...schema.keys.map(({ name }) => name.length));
  const lines = schema.keys.map(({ name, unit, kind }) => {
    const help = type.metrics.find(({ key }) => key === name)?.help ?? '';
    const state = kind === 'event' ? '' : ` (${kind})`;
    return `  ${name.padEnd(width)}  ${unit.padEnd(4)} ${help}${state}`.trimEnd();
  });
  return [
    `${type.name}: ${type.help}`,
    `  device: ${type.device}; from ${type.source}`,
    `  ${here}`,
    ...lines,
    '',
  ].join('\n');
}

const helpOf = ({ type }: TypeFacts) => type.help;

/** Columns of a terminal that does not say how many it has; least columns of a text. */
const [COLUMNS, NARROWEST] = [80, 30];

/** Adds a last column of texts to a table, to the left, as wide as the terminal allows. */
function beside(lines: readonly string[], texts: readonly string[]): string[] {
  const before = Math.max(...lines.map((line) => line.length)) + 2;
  const width = Math.max(NARROWEST, (process.stdout.columns ?? COLUMNS) - before);
  return lines.flatMap((line, k) =>
    wrapped(texts[k], width).map((part, n) => `${(n === 0 ? line : '').padEnd(before)}${part}`),
  );
}

/** Lists the types. Returns the exit code. @throws UsageError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const types = typesNamed(words);
  const root = rootFrom(given.root);
  const facts = types.map((type) => surveyType(type, root));
  if (given.json) {
    process.stdout.write(`${JSON.stringify(facts.map(jsonOf), null, 2)}\n`);
  } else if (words.length > 0) {
    process.stdout.write(`${facts.map(detailsOf).join('\n')}`);
  } else {
    const here = facts.filter((each) => whyNot(each) === null);
    const absent = facts.filter((each) => whyNot(each) !== null);
    const numbers = here.map(({ type, devices, microseconds }) => [
      type.name,
      String(devices),
      (microseconds ?? 0).toFixed(0),
    ]);
    const lines = [
      ...beside(table(['type', 'devices', 'µs'], numbers), ['what', ...here.map(helpOf)]),
      '',
      ...beside(
        table(
          ['not here'],
          absent.map(({ type }) => [type.name]),
        ),
        ['why', ...absent.map((each) => whyNot(each) ?? '')],
      ),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return 0;
}

export const nodeTypes = command({
  about:
    'Lists the types of counters: whether this machine has each type or why not, how many devices, and the time of a collection (median of several). For named types, also their keys.',
  arguments: [
    { name: 'TYPE', help: 'only these, with keys', optional: true, many: true, names: 'type' },
  ],
  options: OPTIONS,
  examples: ['node types', 'node types cpu mem'],
  run,
});
