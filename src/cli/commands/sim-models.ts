/** `triscope sim models`: the built-in models with their options. */
import { flag } from '../../model/option.ts';
import { importModel } from '../../sim/load-model.ts';
import type { Model } from '../../sim/model.ts';
import { BUILT_IN } from '../../sim/models/index.ts';
import { type Call, command } from '../command.ts';
import { helpWidth, itemLines, itemsOf } from '../help.ts';

const OPTIONS = { json: flag(false, 'one array of objects') };

const facts = ({ name, help, end, lookahead, options }: Model) => ({
  name,
  help,
  end: end ?? null,
  lookahead: lookahead ?? null,
  options,
});

/** Lists them. Returns the exit code. */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const models = await Promise.all(Object.keys(BUILT_IN).map((name) => importModel({ name })));
  if (given.json) {
    process.stdout.write(`${JSON.stringify(models.map(facts), null, 2)}\n`);
    return 0;
  }
  const blocks = models.map(({ name, help, options, end, lookahead }) =>
    [
      `${name}: ${help}`,
      `  runs to --end=${end ?? 100000} with --lookahead=${lookahead ?? 0} by default`,
      ...itemLines(itemsOf(options), helpWidth()),
      '',
    ].join('\n'),
  );
  process.stdout.write(blocks.join('\n'));
  return 0;
}

export const simModels = command({
  about: 'Lists the built-in models with their options and defaults.',
  options: OPTIONS,
  examples: ['sim models', 'sim models --json'],
  run,
});
