/** The examples of docs/notebooks.md, by what reads them: pandas, polars and R, where they are there. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportRecording } from 'triscope/query';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { folder, samples } from './support/opened.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const text = readFileSync(new URL('../../docs/notebooks.md', import.meta.url), 'utf8');
const example = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? '';

const runs = (command: string, ...words: readonly string[]): boolean =>
  spawnSync(command, words).status === 0;
/** Debian's Python has Debian's packages; another may come first in PATH. */
const python = ['/usr/bin/python3', 'python3'].find((one) => runs(one, '-c', 'import pandas'));
const hasR = runs('Rscript', '--version');
const polars = ['/usr/bin/python3', 'python3'].find((one) => runs(one, '-c', 'import polars'));

beforeAll(async () => {
  const path = writeFolder(join(folder, 'run.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(batchOf(ROSS_PE, samples(3))),
  });
  const sql = /--sql "([^"]*)"/.exec(text)?.[1] ?? '';
  await exportRecording({ paths: [path], format: 'csv', sql }, join(folder, 'pe.csv'));
});

const answer = (command: string, ...words: readonly string[]) => {
  const { stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: 'utf8' });
  return [
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(',').map(Number)),
    stderr,
  ];
};

/** 10 and 50 of 100 events. */
const UNDONE = [
  [
    [0, 10],
    [1, 50],
  ],
  '',
];

describe('an example of the notebooks', () => {
  it.skipIf(python === undefined)('in Python is right (needs python3-pandas)', () => {
    expect(answer(python ?? '', '-c', example('python'))).toEqual(UNDONE);
  });

  it.skipIf(polars === undefined)(
    'for polars is right (needs the Python package polars)',
    async () => {
      const out = join(folder, 'tables');
      await exportRecording({ paths: [join(folder, 'run.tri')], format: 'parquet' }, out);
      const { stdout, stderr } = spawnSync(polars ?? '', ['-c', example('py')], {
        ...{ cwd: folder, encoding: 'utf8' },
      });
      expect(stderr).toBe('');
      expect(stdout).toMatch(/│ 0 +┆ 10\.0 +│\n│ 1 +┆ 50\.0 +│/);
    },
  );

  it.skipIf(!hasR)('in R is right (needs r-base-core)', () => {
    expect(answer('Rscript', '--vanilla', '-e', example('r'))).toEqual(UNDONE);
  });
});
