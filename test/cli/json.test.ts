/** `--json`: every command that prints has it, and then prints nothing but JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { rawFile, whole } from '../findings/job/support/archive.ts';
import { temporaryFolder, triscope } from './support/run.ts';

/** Commands that have none, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  'region launch': 'its output is that of the command that it runs',
  'region attach': 'its results are the report and traces, as of region launch',
  record: 'its output is that of the command that it runs',
  'node rotate': 'ends a file of the log, and takes no sample to print',
  'node alerts': 'prints rules that Prometheus reads',
  'node daemon': 'prints nothing: it collects until it is ended',
  completion: 'prints a script for a shell, and words for that script',
  'sim new': 'writes files, and prints their names',
  'signal watch': 'its output is a table that others read: GEOPM’s CSV',
};

/** Commands that take long, or change the machine: their own tests run them with `--json`. */
const LONG = [
  'demo',
  'sim run',
  'sim verify',
  'sim tune',
  'serve',
  'signal write',
  'annotate',
  'region build-shims',
  'region flags',
];

const folder = temporaryFolder();
const archive = join(folder, 'archive');
const log = join(folder, 'log');
const BEGIN = 1_772_366_400;

/** What to call the others with. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  'sim models': [],
  'sim sweep': ['phold', '--total-lps=2', '--end=3', '--replications=2'],
  'node collect': ['cpu'],
  'node begin': ['7', '--dir', log],
  'node end': ['7', '--dir', log],
  'node mark': ['here', '--dir', log],
  'node archive': ['--dir', log, '--archive', join(folder, 'to')],
  'node types': [],
  'node job': ['7', '--archive', archive],
  'node jobs': ['--archive', archive],
  'node index': ['--archive', archive],
  // No file that is there: nothing to restore.
  'region restore': [],
  'signal list': [],
  'signal read': ['TIME', 'board', '0'],
  query: [archive, 'SELECT count(*) AS n FROM node_cpu'],
  export: [archive, '--to', 'csv', '--table', 'node_cpu', '-o', join(folder, 'cpu.csv')],
  report: [archive],
  info: [archive],
  read: [join(archive, 'a', String(BEGIN))],
  diff: [archive, archive],
  help: ['sim', 'run'],
};

let commands: readonly string[];

beforeAll(async () => {
  mkdirSync(join(archive, 'a'), { recursive: true });
  mkdirSync(log);
  writeFileSync(join(archive, 'a', String(BEGIN)), rawFile({ host: 'a', groups: whole(BEGIN, 5) }));
  const { out } = await triscope(['--help']);
  const lines = out.slice(out.indexOf('Commands:')).split('\n').slice(1);
  commands = lines.flatMap(
    (line) => /^ {2}([a-z]+(?: [a-z][a-z-]*)?)(?= |$)/.exec(line)?.[1] ?? [],
  );
});

/** JSON as a whole, or an object a line. */
function isJson(text: string): boolean {
  const parses = (part: string) => {
    try {
      JSON.parse(part);
      return true;
    } catch {
      return false;
    }
  };
  return text !== '' && (parses(text) || text.trimEnd().split('\n').every(parses));
}

describe('--json', () => {
  it('is there for every command, but for those that are known to need none', () => {
    expect(commands.length).toBeGreaterThan(25);
    expect([...commands].sort()).toEqual(
      [...Object.keys(CALLS), ...LONG, ...Object.keys(WITHOUT)].sort(),
    );
  });

  it('is told by --help', async () => {
    const texts = await Promise.all(
      LONG.map((command) => triscope([...command.split(' '), '--help'])),
    );
    for (const [k, { out }] of texts.entries()) expect(out, LONG[k]).toContain('--json');
  });

  it('gives JSON on stdout and nothing else', async () => {
    const all = Object.entries(CALLS);
    for (let from = 0; from < all.length; from += 6) {
      const some = all.slice(from, from + 6);
      const outcomes = await Promise.all(
        some.map(([command, args]) =>
          triscope([...command.split(' '), ...args, '--json'], { env: { XDG_STATE_HOME: folder } }),
        ),
      );
      for (const [k, { code, out, err }] of outcomes.entries()) {
        const [command] = some[k];
        expect([code, command, err]).toEqual([0, command, expect.any(String)]);
        expect(isJson(out), `${command}: ${out.slice(0, 200)}`).toBe(true);
      }
    }
  });
});
