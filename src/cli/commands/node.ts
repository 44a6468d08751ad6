/** `triscope node types`, `triscope node collect`: what the node collector can do, and one sample of it. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatSchema, type RawStyle, rawSchemaOf } from '../../formats/tacc/index.ts';
import {
  Collection,
  NODE_TYPES,
  NodeTree,
  type NodeType,
  UnavailableError,
  UnknownTypeError,
} from '../../node/index.ts';
import { EXIT, UsageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';

const COLLECT_USAGE = `usage: triscope node collect [TYPE…] [--root DIR] [--job ID] [--mark TEXT] [--style 1.0|2.3]

Prints one sample as a raw stats file: header, schemas, one record group. All types that this
machine has, unless some are named.

  --root DIR    read the proc and sys of this folder, such as a recorded tree
  --job ID      job that runs here; several separated by commas (-, no job)
  --mark TEXT   a mark for the group
  --style S     1.0: whole seconds, no host in the group's line; 2.3: microseconds and host (1.0)`;

const TYPES_USAGE = `usage: triscope node types [--root DIR] [--json]

Lists what can be collected: each type with its source, its keys and whether this machine has it.`;

interface Words {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

type Options = Readonly<Record<string, { type: 'string' | 'boolean'; short?: string }>>;

/** @throws UsageError */
function read(args: readonly string[], options: Options): Words {
  try {
    const config = { args: [...args], options, allowPositionals: true, strict: true };
    const { values, positionals } = parseArgs(config);
    return { values: values as Words['values'], positionals };
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/** @throws UsageError where it is no folder */
function rootFrom(value: string | boolean | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!statSync(value, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--root ${value}: there is no such folder`);
  }
  return value;
}

function styleFrom(value: string | boolean | undefined): RawStyle {
  if (value === undefined) return '1.0';
  if (value === '1.0' || value === '2.3') return value;
  throw new UsageError(`--style ${value}: it is 1.0 or 2.3`);
}

/** Prints one sample. Returns the exit code. @throws UsageError */
export async function nodeCollect(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values, positionals } = read(args, {
    ...HELP,
    root: text,
    job: text,
    mark: text,
    style: text,
  });
  if (values.help) {
    process.stdout.write(`${COLLECT_USAGE}\n`);
    return 0;
  }
  const options = {
    types: positionals,
    root: rootFrom(values.root),
    style: styleFrom(values.style),
  };
  const say = (type: string, reason: string) =>
    process.stderr.write(`triscope: no records of type ${type}: ${reason}\n`);
  const written: Uint8Array[] = [];
  let collection: Collection;
  try {
    collection = new Collection((bytes) => written.push(bytes.slice()), options);
  } catch (error) {
    if (!(error instanceof UnknownTypeError)) throw error;
    const names = NODE_TYPES.map(({ name }) => name);
    throw new UsageError(error.message + didYouMean(error.type, names));
  }
  for (const { type, reason } of collection.absent) say(type, reason);
  const jobs = typeof values.job === 'string' ? values.job.split(',').filter(Boolean) : [];
  const mark = typeof values.mark === 'string' ? values.mark : undefined;
  collection.writer.header();
  collection.collect(jobs, mark, ({ type, reason }) => say(type, reason));
  collection.close();
  process.stdout.write(Buffer.concat(written));
  return collection.types.length > collection.failures.size ? 0 : EXIT.failed;
}

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
  const { values, positionals } = read(args, { ...HELP, root: { type: 'string' }, json: flag });
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
