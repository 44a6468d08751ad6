/** `triscope sim new NAME`: a folder with a model to begin from. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TriscopeError } from '../../model/error.ts';
import { newModel } from '../../sim/new-model.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { version } from '../version.ts';

const NAME = /^[a-z][a-z0-9-]*$/;

/** Writes the folder. Returns the exit code. @throws UsageError if the name is not allowed, or the folder exists */
async function run({ words: [name] }: Call<Record<never, never>, null>): Promise<number> {
  if (!NAME.test(name)) {
    throw new UsageError(
      `${name}: a model's name consists of lower-case letters, digits and -, and begins with a letter`,
    );
  }
  if (existsSync(name)) throw new UsageError(`${name}: exists already; choose another name`);
  const files = Object.entries(newModel(name, version()));
  try {
    mkdirSync(name);
    for (const [file, text] of files) writeFileSync(join(name, file), text, { flag: 'wx' });
  } catch (error) {
    throw new TriscopeError(`${name}: cannot be written: ${(error as Error).message}`);
  }
  process.stdout.write(
    [
      ...files.map(([file]) => join(name, file)),
      '',
      `triscope sim run ${name}/${name}.ts --args-file=${name}/${name}.args`,
      `cd ${name} && npm install && npm test && npm run check`,
      '',
    ].join('\n'),
  );
  return 0;
}

export const simNew = command({
  about:
    'Makes a folder NAME with a working model to start from: NAME.ts, its test, its settings for --args-file, package.json and tsconfig.json.',
  arguments: [{ name: 'NAME', help: 'name of the model', noun: 'name' }],
  options: {},
  examples: ['sim new shop'],
  run,
});
