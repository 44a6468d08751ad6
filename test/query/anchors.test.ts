/** Loose files on one timeline: by the times of day that they say themselves. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRecording } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { startTimeNs } from '../../src/formats/geopm/read/start-time.ts';

describe('the start of a run of GEOPM', () => {
  it('is exact to the nanosecond, in any zone', () => {
    expect(startTimeNs('2026-11-21T02:00:54.493658912+0000')).toBe(1795226454493658912n);
    expect(startTimeNs('2026-11-21T04:00:54.493658912+0200')).toBe(1795226454493658912n);
    expect(startTimeNs('2026-11-21T02:00:54+00:00')).toBe(1795226454000000000n);
  });

  it('is not known where no zone is said', () => {
    expect(startTimeNs('Mon Aug 17 20:01:41 2020')).toBeNull();
    expect(startTimeNs('now')).toBeNull();
  });
});

describe('a trace beside raw stats', () => {
  it('has its rows where the node was sampled at the same moment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triscope-anchors-'));
    const start = 1_795_226_454;
    writeFileSync(
      join(folder, 'app.trace-vm'),
      '# geopm_version: 3.1.0\n# start_time: 2026-11-21T02:00:54.500000000+0000\n# node_name: vm\nTIME|CPU_ENERGY\n0.5|10\n1.5|60\n',
    );
    writeFileSync(
      join(folder, String(start)),
      `$tacc_stats 1.0.2\n$hostname vm\n$uname Linux\n$uptime 5\n!ps ctxt,E\n\n${start} -\nps - 5\n\n${start + 2} -\nps - 9\n`,
    );
    const recording = await openRecording(folder);
    try {
      const rows = await recording.query<{ t: number; cpu_energy: number; ctxt: number }>(
        'SELECT g.t, cpu_energy, ctxt FROM geopm_trace g JOIN node_ps n ON n.t = g.t',
      );
      expect(rows).toEqual([{ t: 2, cpu_energy: 60, ctxt: 9 }]);
    } finally {
      await recording.close();
    }
  });
});
