/** Closing a recording while a query runs in it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRecording } from 'triscope/query';
import { expect, it } from 'vitest';
import { rawFile, whole } from '../findings/job/support/archive.ts';

it('ends the query, and closes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-closing-'));
  writeFileSync(join(folder, '1772366400'), rawFile({ host: 'a', groups: whole(1772366400, 50) }));
  for (const wait of [0, 20, 300]) {
    const recording = await openRecording(folder);
    const query = recording.query(
      'SELECT sum(a.range * b.user) FROM range(100000000) a, node_cpu b, range(1000) c',
    );
    const ended = expect(query).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, wait));
    await recording.close();
    await ended;
  }
});

it('is done before the process ends, whoever ends it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-exit-'));
  const archive = join(folder, 'archive');
  mkdirSync(archive);
  writeFileSync(join(archive, '1772366400'), rawFile({ host: 'a', groups: whole(1772366400, 50) }));
  const query = fileURLToPath(new URL('../../dist/query/index.js', import.meta.url));
  for (const wait of [0, 30, 300]) {
    const program = `
      const { openRecording } = await import(${JSON.stringify(query)});
      const recording = await openRecording(${JSON.stringify(archive)});
      recording.query('SELECT sum(a.range * b.user) FROM range(100000000) a, node_cpu b, range(1000) c');
      setTimeout(() => process.exit(7), ${wait});`;
    const file = join(folder, 'exit.mjs');
    writeFileSync(file, program);
    const { status, signal, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect([status, signal, stderr]).toEqual([7, null, '']);
  }
});
