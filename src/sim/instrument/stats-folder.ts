/** The folder of ROSS's files: `stats-output`, or one with the process and time in its name where that exists. */
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lpMappingText, type ReadmeInfo, readmeText } from '../../formats/ross/write/index.ts';
import type { Metric } from '../../model/metric.ts';
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../model/schemas/ross.ts';
import { makeFolders } from '../make-folders.ts';
import { ModelError } from '../model.ts';
import type { InstrumentConfig, StatsFiles, Stream } from './config.ts';

/** The folder cannot be made. The message says what to do. */
export class StatsFolderError extends ModelError {
  override readonly name = 'StatsFolderError';
}

/** What ROSS calls each stream's file; rollbacks have none. */
const FILE_OF: Readonly<Record<Stream, string | null>> = {
  gvt: 'gvt.bin',
  rt: 'rt.bin',
  vt: 'analysis-lps.bin',
  model: 'model.bin',
  evtrace: 'evtrace.bin',
  rollback: null,
};

/** Name of a stream's file; null for a stream that has none. */
export function fileOf(stream: Stream, prefix: string): string | null {
  const name = FILE_OF[stream];
  return name === null ? null : `${prefix}-${name}`;
}

/** Makes the folder, mode 0700 as ROSS does; returns its path. @throws StatsFolderError */
export function makeStatsFolder(wanted: string): string {
  const path = existsSync(wanted)
    ? `${wanted}-${process.pid}-${Math.floor(Date.now() / 1000)}`
    : wanted;
  try {
    makeFolders(path, 0o700);
  } catch (error) {
    throw new StatsFolderError(`--stats-path: cannot make ${path}: ${(error as Error).message}`);
  }
  return path;
}

/** Lines of the LPs' mapping that are in memory at a time. */
const MAPPING_LINES = 1 << 16;

/** What the texts beside the binary files say. */
export interface StatsTexts {
  readonly readme: ReadmeInfo;
  /** PE, and KP on it, of each LP. */
  readonly peOf: ArrayLike<number>;
  readonly kpOf: ArrayLike<number>;
}

/** What each field of the samples means here. */
function fieldsText(): string {
  const lines = (name: string, fields: readonly Metric[]) => [
    `${name}:`,
    ...fields.map(
      ({ key, unit, help, estimate }) =>
        `  ${key.padEnd(24)} ${help}${unit === '' ? '' : ` [${unit}]`}${estimate ? ' (estimate: sampled)' : ''}`,
    ),
    '',
  ];
  return [
    '',
    '## FIELDS OF SAMPLES, IN ORDER',
    '',
    ...lines('PE', PE_FIELDS),
    ...lines('KP', KP_FIELDS),
    ...lines('LP', LP_FIELDS),
  ].join('\n');
}

/** Writes `<prefix>-README.txt` and `lp-mapping.txt`. @throws StatsFolderError */
export function writeStatsTexts(folder: string, files: StatsFiles, texts: StatsTexts): void {
  try {
    writeFileSync(
      join(folder, `${files.prefix}-README.txt`),
      readmeText(texts.readme) + fieldsText(),
    );
    const fd = openSync(join(folder, 'lp-mapping.txt'), 'w');
    for (let from = 0; from < texts.peOf.length; from += MAPPING_LINES) {
      const to = Math.min(texts.peOf.length, from + MAPPING_LINES);
      writeFileSync(fd, lpMappingText(texts.peOf, texts.kpOf, from, to));
    }
    closeSync(fd);
  } catch (error) {
    throw new StatsFolderError(`cannot write in ${folder}: ${(error as Error).message}`);
  }
}

/** Whether samples hold KPs and LPs. */
export function detailed(config: InstrumentConfig): boolean {
  return config.levels.kp || config.levels.lp;
}
