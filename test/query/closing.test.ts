/** Closing a recording while a query runs in it. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
