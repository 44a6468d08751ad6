/** `triscope region attach`: a controller for programs that were started elsewhere. */
import { text } from '../../model/option.ts';
import { ENV_DIR, ENV_FILTER } from '../../model/region-layout.ts';
import { exitNow } from '../../os/exit.ts';
import { attachTo } from '../../region/controller/index.ts';
import { type Call, type Command, command } from '../command.ts';
import {
  CONTROLLER_OPTIONS,
  checkTexts,
  failedStart,
  settingsFrom,
  tellJson,
} from '../controller-options.ts';
import { UsageError } from '../errors.ts';
import { GEOPM_OPTIONS } from '../geopm-options.ts';

const OPTIONS = {
  ...GEOPM_OPTIONS,
  ...CONTROLLER_OPTIONS,
  pages: text('', 'folder in which the programs mark: their TRISCOPE_REGION_DIR', {
    placeholder: 'FOLDER',
    names: 'path',
  }),
};

const isPid = (word: string) => /^[1-9]\d{0,9}$/.test(word);

/** Samples until they have ended. Returns the exit code. @throws UsageError */
async function run({ words, given, notes }: Call<typeof OPTIONS, null>): Promise<number> {
  const wrong = words.find((word) => !isPid(word));
  if (wrong !== undefined) throw new UsageError(`${wrong}: is not a process id`);
  checkTexts(given);
  const pids = words.map(Number);
  const settings = settingsFrom(given);
  const say = (message: string) => process.stderr.write(`triscope: ${message}\n`);
  for (const note of notes) say(note);
  const onReady = (pages: string) => {
    if (pids.length > 0) return;
    const named = given.pages === undefined ? `${ENV_FILTER}=PROGRAM, or ` : '';
    say(`waiting for programs that are started with ${named}${ENV_DIR}=${pages}`);
  };
  try {
    const pages = given.pages === undefined ? {} : { pages: given.pages };
    const result = await attachTo({ pids, ...pages, settings, say, onReady });
    if (given.json === true) tellJson(settings, result);
    if (result.stuck) exitNow(result.code);
    return result.code;
  } catch (error) {
    return failedStart(error, say);
  }
}

export const regionAttach: Command = command({
  about:
    'Samples programs that were started elsewhere, and writes GEOPM’s report as region launch does. With PID, until those processes have ended: they must have been started with TRISCOPE_REGION_DIR. Without, it waits for programs, and ends when all that came have ended. Totals begin when sampling does. Ctrl-C ends it: the report is written, and the programs go on.',
  arguments: [{ name: 'PID', help: 'a process that runs', many: true, optional: true }],
  options: OPTIONS,
  oneDash: true,
  examples: ['region attach 4711', 'region attach --geopm-report=r --pages=/dev/shm/mine'],
  run,
});
