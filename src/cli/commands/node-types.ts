/** `triscope node types`: what the node collector can collect, and whether this machine has it. */
import { formatSchema, rawSchemaOf } from '../../formats/tacc/index.ts';
import { NODE_TYPES, NodeTree, type NodeType, UnavailableError } from '../../node/index.ts';
import { UsageError } from '../errors.ts';
import { HELP, readWords, rootFrom } from '../node-options.ts';

const TYPES_USAGE = `usage: triscope node types [--root DIR] [--json]

Lists what can be collected: each type with its source, its keys and whether this machine has it.`;

/** Why this tree has none of a type's numbers; null where it has. */
function missing(type: NodeType, tree: NodeTree): string | null {
  try {
    type.open(tree).close();
    return null;
  } catch (error) {
    if (error instanceof UnavailableError) return error.message;
    throw error;
  }
}

/** Lists the types. Returns the exit code. @throws UsageError */
export async function nodeTypes(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean' } as const;
  const { values, positionals } = readWords(args, {
    ...HELP,
    root: { type: 'string' },
    json: flag,
  });
  if (values.help) {
    process.stdout.write(`${TYPES_USAGE}\n`);
    return 0;
  }
  if (positionals.length > 0) {
    throw new UsageError(`unexpected ${positionals[0]}; node types takes only options`);
  }
  const tree = new NodeTree(rootFrom(values.root));
  if (values.json) {
    const facts = NODE_TYPES.map((type) => ({
      name: type.name,
      help: type.help,
      device: type.device,
      source: type.source,
      schema: formatSchema(rawSchemaOf(type.name, type.metrics)),
      keys: type.metrics.map(({ key, kind, unit, bits, help }) => ({
        key,
        kind,
        unit,
        bits: bits ?? 64,
        help,
      })),
      missing: missing(type, tree),
    }));
    process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
    return 0;
  }
  for (const type of NODE_TYPES) {
    const reason = missing(type, tree);
    const here = reason === null ? '' : `; not here: ${reason}`;
    const width = Math.max(...type.metrics.map(({ key }) => key.length));
    const keys = type.metrics.map(({ key, unit, help }) =>
      `  ${key.padEnd(width)}  ${unit.padEnd(3)} ${help}`.trimEnd(),
    );
    process.stdout.write(
      `${[`${type.name}: ${type.help} (per ${type.device}, from ${type.source})${here}`, ...keys].join('\n')}\n\n`,
    );
  }
  return 0;
}
