/** `triscope sim models`: the built-in models with their options. */
import { importModel } from '../../sim/load-model.ts';
import type { Model } from '../../sim/model.ts';
import { BUILT_IN } from '../../sim/models/index.ts';
import { UsageError } from '../errors.ts';
import { optionsLines } from '../options-help.ts';

const USAGE = `usage: triscope sim models [--json]

Lists the built-in models with their options and defaults.`;

const facts = ({ name, help, end, lookahead, options }: Model) => ({
  name,
  help,
  end: end ?? null,
  lookahead: lookahead ?? null,
  options,
});

/** Lists them. Returns the exit code. @throws UsageError */
export async function simModels(args: readonly string[]): Promise<number> {
  if (args.some((word) => word === '-h' || word === '--help')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const stray = args.find((word) => word !== '--json');
  if (stray !== undefined)
    throw new UsageError(`unexpected ${stray}; sim models takes only --json`);
  const models = await Promise.all(Object.keys(BUILT_IN).map((name) => importModel({ name })));
  if (args.length > 0) {
    process.stdout.write(`${JSON.stringify(models.map(facts), null, 2)}\n`);
    return 0;
  }
  const blocks = models.map(({ name, help, options, end, lookahead }) =>
    [
      `${name}: ${help}`,
      `  runs to --end=${end ?? 100000} with --lookahead=${lookahead ?? 0} by default`,
      ...optionsLines(options),
      '',
    ].join('\n'),
  );
  process.stdout.write(blocks.join('\n'));
  return 0;
}
