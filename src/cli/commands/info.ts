/** `triscope info PATH…`: what files are, what is in them, and what is strange about them. */
import { filesOf } from '../../formats/files.ts';
import type { FileInfo, Instant, ScanOptions } from '../../formats/format.ts';
import { identifyOrFail } from '../../formats/registry.ts';
import { openFile } from '../../formats/source.ts';
import { flag } from '../../model/option.ts';
import { lackingEnd } from '../../model/recording-end.ts';
import { breath } from '../../os/breath.ts';
import { type Call, command, FILES } from '../command.ts';
import { EXIT, report, UsageError } from '../errors.ts';
import { givenLayout, LAYOUT } from '../given-layout.ts';
import { type RecordingInfo, recordingInfo, recordingLines } from '../recording-info.ts';
import { painter } from '../table.ts';
import { oneLine } from '../terminal.ts';
import {
  isDamaged,
  type VerifiedFile,
  verifiedLines,
  verifyRecording,
} from '../verify-recording.ts';

const OPTIONS = {
  json: flag(false, 'one object: files, and recordings where there are some'),
  verify: flag(
    false,
    'read all files of a recording, and name those that have changed since its run ended (exit code 3)',
  ),
  layout: LAYOUT,
};

/** Suspect spots shown of a file. */
const SHOWN = 20;

function infoOf(path: string, scan: ScanOptions): FileInfo {
  const source = openFile(path);
  try {
    return identifyOrFail(source)
      .format.open(source, { ...scan, counters: true })
      .info();
  } finally {
    source.close();
  }
}

/** For `info --json`: facts that only one format has stand beside the common ones. */
const jsonOf = ({ more, damaged, ...info }: FileInfo) => ({ ...info, damaged, ...more });

const plural = (count: number, name: string) =>
  `${count} ${count === 1 ? name.replace(/(?<=ss)es$|s$/, '') : name}`;

/** Ten digits: a run's real times often differ in the last few only. */
const figure = (value: number) => String(Number(value.toPrecision(10)));

const entityName = (name: string) => ({ pes: 'PEs', kps: 'KPs', lps: 'LPs' })[name] ?? name;

/** Seconds since 1970 as dates too. */
function dates(from: Instant, to: Instant): string {
  const [first, last] = [from, to].map(({ time }) => new Date(1000 * Number(time)));
  if (Number.isNaN(first.getTime()) || Number.isNaN(last.getTime())) return '';
  const text = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z');
  return `, ${text(first)} to ${text(last)}`;
}

function spanLine(from: Instant | null, to: Instant | null): string[] {
  if (from === null || to === null) return [];
  const parts: string[] = [];
  if (from.virtual_time !== undefined && to.virtual_time !== undefined) {
    parts.push(`virtual time ${figure(from.virtual_time)} to ${figure(to.virtual_time)}`);
  }
  if (from.real_time !== undefined && to.real_time !== undefined) {
    parts.push(`real time ${figure(from.real_time)} to ${figure(to.real_time)} s`);
  }
  if (from.time !== undefined) parts.push(`${from.time} to ${to.time}${dates(from, to)}`);
  return parts.length === 0 ? [] : [['time', parts.join(', ')].join('\t')];
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, of]) => `${key}: ${of}`)
    .join(', ');
}

function textOf(info: FileInfo): string {
  const records = Object.entries(info.records);
  const total = records.reduce((sum, [, count]) => sum + count, 0);
  const kinds = records.map(([kind, count]) => `${count} ${kind}`).join(', ');
  const entities = Object.entries(info.entities).map(([n, count]) => plural(count, entityName(n)));
  const lines = [
    `what\t${info.era}`,
    `because\t${info.because}`,
    `size\t${plural(info.bytes, 'bytes')}`,
    `records\t${total}${records.length > 0 ? ` (${kinds})` : ''}`,
    ...(entities.length > 0 ? [`of\t${entities.join(', ')}`] : []),
    ...spanLine(info.from, info.to),
    ...Object.entries(info.more ?? {}).flatMap(([key, value]) => {
      const text = valueText(value);
      return text === '' ? [] : [`${key.replaceAll('_', ' ')}\t${text}`];
    }),
    ...info.suspect
      .slice(0, SHOWN)
      .map(({ where, what }) => `suspect\t${where}\t${what.replaceAll('\t', ' ')}`),
    ...(info.suspect.length > SHOWN
      ? [`suspect\t${info.suspect.length - SHOWN} more places: --json lists them`]
      : []),
  ];
  return block(info.path, lines);
}

/** A title, and lines “name, tab, value” below it; of a suspect spot “name, tab, where, tab, what”. */
function block(title: string, lines: readonly string[]): string {
  const paint = painter(process.stdout);
  const rows = lines.map((line) => line.split('\t').map(oneLine));
  const width = rows.reduce((most, [name]) => Math.max(most, name.length), 0);
  const body = rows.map(([name, ...parts]) => {
    const [where, ...what] = parts;
    const value =
      name === 'suspect' && what.length > 0
        ? `${paint.bad(where)}: ${what.join(' ')}`
        : parts.join(' ');
    return `  ${paint.dim(name.padEnd(width))}  ${value}`;
  });
  return [paint.bold(oneLine(title)), ...body, ''].join('\n');
}

/** Describes the files. Returns the exit code: 3 where one of them is damaged or of no known format. */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const scan = givenLayout(given.layout);
  const [json, verify] = [given.json === true, given.verify === true];
  let code = 0;
  const infos: FileInfo[] = [];
  const recordings: (Omit<RecordingInfo, 'told'> & {
    readonly suspect: readonly string[];
    readonly verified?: readonly VerifiedFile[];
  })[] = [];
  for (const path of words) {
    try {
      const found = recordingInfo(path);
      if (found === null && verify) {
        throw new UsageError(`--verify: ${path} is not a recording's folder`);
      }
      if (found === null) continue;
      const verified = verify ? verifyRecording(path, found) : undefined;
      if (verified?.some(isDamaged) === true) code = EXIT.input;
      const { recording } = found;
      const suspect = lackingEnd(recording);
      recordings.push({ path, recording, suspect, ...(verified && { verified }) });
      const lines = [...recordingLines(found), ...(verified ? verifiedLines(verified) : [])];
      if (!json) process.stdout.write(`${block(path, lines)}\n`);
    } catch (error) {
      code = report(error);
    }
  }
  for (const path of filesOf(words)) {
    await breath();
    try {
      const found = infoOf(path, scan);
      if (found.damaged) code = EXIT.input;
      infos.push(found);
      if (!json) process.stdout.write(`${textOf(found)}\n`);
    } catch (error) {
      code = report(error);
    }
  }
  if (json) {
    const facts = {
      files: infos.map(jsonOf),
      ...(recordings.length > 0 && { recordings }),
    };
    process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
  }
  return code;
}

export const info = command({
  about:
    'Describes files: format and era, records by kind, entities, time span, and suspect spots. PATH is a file or a folder with files in it; for a recording’s folder also where it ran, and how its hosts’ clocks align. The content determines the format; only files of ROSS of 2017 without a README need an option (--layout).',
  arguments: [FILES],
  options: OPTIONS,
  examples: ['info run.tri', 'info run.tri --verify --json'],
  run,
});
