/** The folder of ROSS's files: `stats-output`, or a name with the process and time if that exists. */
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LpMapping,
  lpMappingText,
  type ReadmeInfo,
  readmeText,
} from '../../formats/ross/write/index.ts';
import { makeFolder } from '../../os/folder.ts';
import { ModelError } from '../model.ts';
import type { InstrumentConfig, StatsFiles, Stream } from './config.ts';

/** The folder cannot be made. The message says what to do. */
export class StatsFolderError extends ModelError {
  override readonly name = 'StatsFolderError';
}

/** ROSS's name for each stream's file; rollbacks have none. */
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
    makeFolder(path, 0o700);
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
  readonly mapping: LpMapping;
}

/** Writes `<prefix>-README.txt` and `lp-mapping.txt`. @throws StatsFolderError */
export function writeStatsTexts(folder: string, files: StatsFiles, texts: StatsTexts): void {
  try {
    writeFileSync(join(folder, `${files.prefix}-README.txt`), readmeText(texts.readme));
    const fd = openSync(join(folder, 'lp-mapping.txt'), 'w');
    const lps = texts.mapping.peOf.length;
    for (let from = 0; from < lps; from += MAPPING_LINES) {
      const to = Math.min(lps, from + MAPPING_LINES);
      writeFileSync(fd, lpMappingText(texts.mapping, from, to));
    }
    closeSync(fd);
  } catch (error) {
    throw new StatsFolderError(`cannot write in ${folder}: ${(error as Error).message}`);
  }
}

/** Whether samples contain KPs and LPs. */
export function detailed(config: InstrumentConfig): boolean {
  return config.levels.kp || config.levels.lp;
}
