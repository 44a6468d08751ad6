/** The questions of docs/query.md, asked of a run such as the one that they were asked of. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { triscope } from '../cli/support/run.ts';

const text = readFileSync(fileURLToPath(new URL('../../docs/query.md', import.meta.url)), 'utf8');
const questions = [
  ...text.matchAll(/### \d+\. (.+)\n\n```sql\n([\s\S]+?)\n```\n\n```text\n([\s\S]+?)\n```/g),
].map(([, title, sql, output]) => ({ title, sql, lines: output.split('\n') }));
const command = /`triscope (sim run phold [^`]+)`/.exec(text)?.[1].split(/\s+/) ?? [];

const folder = mkdtempSync(join(tmpdir(), 'query-docs-'));
let recording: OpenRecording;

beforeAll(async () => {
  const { code, err } = await triscope([...command, '--end=1000'], { cwd: folder });
  expect([code, err]).toEqual([0, expect.any(String)]);
  recording = await openRecording(join(folder, 'run.tri'));
});
afterAll(async () => {
  await recording?.close();
  rmSync(folder, { recursive: true });
});

describe('docs/query.md', () => {
  it('has ten questions', () => {
    expect(questions).toHaveLength(10);
  });

  it.each(questions)('answers: $title', async ({ sql, lines }) => {
    const { columns, blocks } = await recording.rows(sql);
    expect(columns.map(({ name }) => name).join(' ')).toBe(lines[0].trim().replace(/ +/g, ' '));
    let rows = 0;
    for await (const block of blocks) rows += block.length;
    expect(rows).toBeGreaterThan(0);
    expect(lines.length).toBeGreaterThan(1);
  });
});
