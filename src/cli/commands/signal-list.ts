/** `triscope signal list`: the signals that this machine has, and the settings that can be changed. */
import { flag } from '../../model/option.ts';
import type { Platform } from '../../region/signals/index.ts';
import { SIGNAL_DOMAINS } from '../../region/signals/index.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Output } from '../output.ts';
import { ROOT } from '../root-option.ts';
import { platformOptions, SYNTHETIC, withPlatform } from '../signal-options.ts';
import { table } from '../table.ts';

const OPTIONS = {
  domains: flag(false, 'list the parts of the machine and how many there are'),
  controls: flag(false, 'list the settings that signal write can change'),
  root: ROOT,
  synthetic: SYNTHETIC,
  json: flag(false, 'print an array of objects'),
};

type Row = Readonly<Record<string, string | number | readonly string[]>>;

function domains(platform: Platform): Row[] {
  return SIGNAL_DOMAINS.map((domain) => {
    return { domain, count: platform.topology.indices(domain).length };
  });
}

function controls(platform: Platform): Row[] {
  return platform.controls.list().map(({ name, alias, domain, unit, description }) => ({
    control: name,
    domain,
    unit,
    aliases: alias === undefined ? [] : [alias],
    description,
  }));
}

function signals(platform: Platform): Row[] {
  return platform.signals().map((signal) => ({
    signal: signal.name,
    domain: signal.domain,
    count: platform.topology.indices(signal.domain).length,
    unit: signal.unit,
    behaviour: signal.behaviour,
    aggregation: signal.aggregation,
    format: signal.format,
    provider: signal.provider,
    aliases: signal.aliases,
    description: signal.description,
  }));
}

/** For people: the description is long, and last. */
const HIDDEN = new Set(['format', 'provider', 'count']);

function lines(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['none on this machine'];
  const keys = Object.keys(rows[0]).filter((key) => !('signal' in rows[0] && HIDDEN.has(key)));
  const short = keys.filter((key) => key !== 'description');
  const text = (row: Row, key: string) => {
    const value = row[key];
    return typeof value === 'object' ? value.join(' ') : String(value) || '-';
  };
  const cells = rows.map((row) => short.map((key) => text(row, key)));
  return table(short, cells, '').map((line, k) => {
    const description = k === 0 ? undefined : rows[k - 1].description;
    return description === undefined ? line : `${line}\n    ${description}`;
  });
}

/** Prints the list. Returns the exit code. @throws UsageError */
async function run({ given, words }: Call<typeof OPTIONS, null>): Promise<number> {
  const [name] = words;
  if (name !== undefined && (given.domains || given.controls)) {
    throw new UsageError(`${name}: --domains and --controls list all there are`);
  }
  const what = given.domains ? domains : given.controls ? controls : signals;
  const rows = withPlatform(platformOptions(given, given.synthetic), (platform) => {
    const all = what(platform);
    if (name === undefined) return all;
    const info = platform.info(name);
    // Reading it fails with the reason why there is no such signal.
    if (info === null) platform.push(name, 'board', 0);
    return all.filter((row) => row.signal === info?.name);
  });
  const output = new Output();
  output.write(given.json ? `${JSON.stringify(rows, null, 2)}\n` : `${lines(rows).join('\n')}\n`);
  output.flush();
  return 0;
}

export const signalList = command({
  about:
    'Lists the signals that this machine has: domain, unit, behaviour over time, how values of several places are aggregated, and other names.',
  arguments: [{ name: 'SIGNAL', help: 'only this one, by any of its names', optional: true }],
  options: OPTIONS,
  examples: ['signal list', 'signal list CPU_ENERGY', 'signal list --controls --json'],
  run,
});
