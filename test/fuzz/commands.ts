/**
 * Damaged files as users meet them: through `info`, `read`, `query`, `report` and every route of the server. Whoever
 * asks gets rows, or lines of text and a code that docs/command-line.md has.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { api, ROUTES } from '../../src/live/api/index.ts';
import { Exhibit } from '../../src/live/exhibit.ts';
import { Desk } from '../../src/live/net/desk.ts';
import { exitCodeOf } from '../../src/model/error.ts';
import { RECORDING_FILE } from '../../src/model/recording.ts';
import { triscopeHere } from '../cli/support/run.ts';
import type { Base } from './base.ts';
import type { Damaged } from './mutate.ts';
import { recordingWith } from './named-recording.ts';
import type { Random } from './random.ts';
import { checkLine, RuleError, type Verdict } from './rule.ts';

/** Seconds of CPU of a case, all threads, on a busy machine. */
const MOST_SECONDS = 20;
/** Bytes by which a case may make this process larger than it ever was: DuckDB's come with the first. */
const MOST_GROWTH = 768 * 2 ** 20;
/** What takes a query's engine takes a hundred times as long as what only reads: one case of so many does. */
const RARE = 60;

/** Read, or refused. */
const CODES = [0, 3];

/** What no line of ours says: an error that nobody expected. */
const CRASH =
  /unexpected:|^\s+at |node:internal|Maximum call stack|Invalid (array|string|typed array) length/;

function checkLines(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  for (const line of lines) {
    checkLine(line);
    if (CRASH.test(line)) throw new RuleError(`told: ${line}`);
  }
  return lines;
}

/** Runs a command; what it printed. @throws RuleError */
async function called(words: readonly string[]): Promise<{ code: number; out: string }> {
  const { code, out, err } = await triscopeHere(words);
  const [command] = words;
  const told = checkLines(err);
  if (code === null || !CODES.includes(code))
    throw new RuleError(`${command}: code ${code}: ${told.at(-1)}`);
  if (code !== 0 && told.length === 0 && command !== 'info')
    throw new RuleError(`${command}: code ${code} without a word`);
  if (code === 0 && words.includes('--json')) JSON.parse(out);
  return { code, out };
}

type Way = (path: string, random: Random) => Promise<number>;

const info: Way = async (path, random) =>
  (await called(['info', path, ...(random.below(2) === 0 ? ['--json'] : [])])).code;

const read: Way = async (path, random) => {
  const form = random.of(['json', 'csv']);
  return (await called(['read', path, `--format=${form}`])).code;
};

const query: Way = async (path, random) => {
  const { code, out } = await called(['query', path, '--json']);
  if (code !== 0) return code;
  const tables = (JSON.parse(out) as { table?: string }[]).map(({ table }) => table ?? '');
  if (tables.length === 0) return code;
  const name = random.of(tables).replaceAll('"', '""');
  return (await called(['query', path, '--csv', `SELECT * FROM "${name}"`])).code;
};

const report: Way = async (path) => (await called(['report', path])).code;

/** All texts in an answer: names to ask for next. */
function namesIn(value: unknown, found: string[]): void {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const one of value) namesIn(one, found);
  else if (typeof value === 'object' && value !== null) namesIn(Object.values(value), found);
}

const never = new AbortController().signal;
/** Of the parameters that are texts: what tells the names that they may have. */
const NAMES = ['/tables', '/heatmap/metrics', '/regions', '/jobs', '/job'];

/** Asks every route that takes no body, with names that others told. */
async function ask(exhibit: Exhibit, random: Random): Promise<void> {
  const shown = () => exhibit.now();
  const app = api(
    {
      desk: new Desk(never),
      gone: () => never,
      shown,
      all: async () => [await shown()],
      refused: [],
    },
    ROUTES,
  );
  const get = async (path: string): Promise<string> => {
    const answer = await app.request(path);
    const body = await answer.text();
    if (answer.status < 400) return body;
    if (answer.status >= 500 && answer.status !== 503) {
      throw new RuleError(`${path}: ${answer.status}: ${body}`);
    }
    checkLines((JSON.parse(body) as { error: string }).error);
    return '';
  };
  const names: string[] = ['0', '1'];
  for (const path of NAMES) {
    const body = await get(path);
    if (body !== '') namesIn(JSON.parse(body), names);
  }
  for (const { method, path, parameters = [] } of ROUTES) {
    if (method !== 'get' || NAMES.includes(path)) continue;
    const asked = new URLSearchParams();
    for (const { name, schema, required } of parameters) {
      if (required !== true && random.below(3) > 0) continue;
      const { enum: words } = schema as { enum?: readonly string[] };
      const isText = schema.type === 'string';
      asked.set(name, isText ? random.of(words ?? names) : String(random.below(50)));
    }
    await get(`${path}?${asked}`);
  }
}

const server: Way = async (path, random) => {
  let exhibit: Exhibit;
  try {
    exhibit = await Exhibit.open('it', null, path);
  } catch (error) {
    checkLines((error as Error).message);
    if (exitCodeOf(error) !== 3) throw error;
    return 3;
  }
  try {
    await ask(exhibit, random);
    return 0;
  } finally {
    await exhibit.close();
  }
};

const USUAL: readonly Way[] = [info, read];
const DEAR: readonly Way[] = [query, report, server];

/** A folder with the damaged file and what lies beside it; the path that a user gives. */
function laid(folder: string, { name, beside }: Base, bytes: Uint8Array): string {
  const isRecording = name === RECORDING_FILE;
  if (isRecording) recordingWith('plain', folder);
  for (const [other, content] of [...Object.entries(beside), [name, bytes] as const]) {
    const path = join(folder, other);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return isRecording ? folder : join(folder, name);
}

const seconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const largest = (): number => process.resourceUsage().maxRSS * 1024;

/** @throws RuleError where a rule is broken; anything else is a crash */
export async function throughCommands(
  base: Base,
  { bytes }: Damaged,
  random: Random,
): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-fuzz-'));
  try {
    const path = laid(folder, base, bytes);
    const way = random.of(random.below(RARE) === 0 ? DEAR : USUAL);
    const [began, size] = [seconds(), largest()];
    const code = await way(path, random);
    const took = seconds() - began;
    if (took > MOST_SECONDS) throw new RuleError(`${way.name} took ${took.toFixed(1)} s of CPU`);
    const growth = largest() - size;
    if (growth > MOST_GROWTH)
      throw new RuleError(`${way.name} took ${Math.round(growth / 2 ** 20)} MiB`);
    return code === 3 ? 'refused' : 'same';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
