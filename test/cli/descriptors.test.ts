/** A process that may open few files reads many, or says what it lacks. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exitCodeFor, lineFor } from '../../src/cli/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'descriptors-'));
const FILES = 120;
for (let k = 0; k < FILES; k++) {
  const t = 1772366400 + 600 * k;
  const lines = [
    '$hpcperfstats 2.3',
    '$hostname h1',
    '!cpu user,E',
    '',
    `${t}.0 - h1`,
    `cpu 0 ${k}`,
  ];
  writeFileSync(join(folder, String(t)), `${lines.join('\n')}\n`);
}
afterAll(() => rmSync(folder, { recursive: true }));

/** A command that may have `most` files open. */
function limited(most: number, ...words: readonly string[]) {
  const bin = join(import.meta.dirname, '../../bin/triscope');
  const script = `ulimit -n ${most}; exec "$0" "$@"`;
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', script, process.execPath, bin, ...words],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('few files that may be open', () => {
  it('are enough for many that are read', () => {
    const sql = 'SELECT count(*) AS n FROM node_cpu';
    const { status, stdout, stderr } = limited(100, 'query', folder, sql, '--json');
    expect([status, stdout, stderr]).toEqual([0, `[\n{"n":${FILES}}\n]\n`, '']);
  });

  // With more, it depends on the compiled code that is kept whether they are enough.
  it.each([20, 21, 22])('%d: too few, which is said in one line', (most) => {
    const { status, stderr } = limited(most, 'query', folder, 'FROM suspect');
    expect(stderr).toMatch(
      /^triscope: [^\n]+: too many files are open: raise the limit \(ulimit -n\)\n$/,
    );
    expect(status).toBe(3);
  });
});

describe('a file that the system refuses where nobody expected it', () => {
  it.each([
    [
      "EMFILE: too many open files, open '/a/b.js'",
      '/a/b.js: too many files are open: raise the limit (ulimit -n)',
    ],
    [
      'Worker initialization failure: EMFILE',
      'a thread of ours: too many files are open: raise the limit (ulimit -n)',
    ],
    ["EACCES: permission denied, mkdir '/a/b'", '/a/b: permission denied (mkdir)'],
    ['EIO: i/o error, read', 'a thread of ours: i/o error (read)'],
  ])('%s', (message, line) => {
    expect([lineFor(new Error(message)), exitCodeFor(new Error(message))]).toEqual([
      `triscope: ${line}`,
      3,
    ]);
  });

  it('is not any other error', () => {
    const error = new Error('EAR: no code');
    expect([lineFor(error), exitCodeFor(error)]).toEqual(['triscope: unexpected: EAR: no code', 1]);
  });
});
