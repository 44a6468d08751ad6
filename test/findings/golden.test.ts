/** Findings of genuine files: those of every era are judged by what they hold. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findAll } from '../../src/findings/index.ts';
import { openHere } from '../query/support/open-here.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

async function of(...path: string[]): Promise<string[]> {
  const folder = join(GOLDEN ?? '', ...path);
  const recording = await openHere(folder);
  try {
    const found = await findAll(recording, { path: folder });
    return found.map(({ rule, severity, sentence }) => `${rule} ${severity}: ${sentence}`);
  } finally {
    await recording.close();
  }
}

describe.skipIf(GOLDEN === undefined)('findings of genuine files (TRISCOPE_GOLDEN)', () => {
  // ROSS's own PHOLD on two PEs of one machine rolls back most of its events in every version.
  it.each(['m-opt2-gvt-all', 'v8-opt2-rt-all', 'o1704-opt2-gvt-g0', 'o1704-opt2-gvt-g1'])(
    'ROSS, %s: efficiency and secondary rollbacks',
    async (name) => {
      const found = await of('ross', name);
      expect(found.join('\n')).toMatch(
        /^efficiency problem: .* events were handled and (69|70|71) %/m,
      );
      expect(found.join('\n')).toMatch(/^secondary-rollbacks notice: 5\d % of/m);
      expect(found.filter((line) => line.startsWith('memory-pressure'))).toEqual([]);
    },
  );

  it('ROSS: GVTs are counted alike where records hold totals and where they hold changes', async () => {
    const pattern = /^gvt-interval problem: PEs spent \d+ % of their time computing ([\d,]+) GVTs/m;
    const count = async (name: string) =>
      Number((await of('ross', name)).join('\n').match(pattern)?.[1].replace(',', ''));
    expect(await count('m-opt2-rt-all')).toBe(1037);
    expect(await count('o1704-opt2-rt-g0')).toBe(548);
  });

  it('ROSS: a conservative run has no rollbacks to mend', async () => {
    expect(await of('ross', 'm-cons2-gvt-all')).toEqual([
      'network-bound notice: PE 0 spends 28 % of its time on messages (at least 27 %): for every 100 events that it handles, 11.6 arrive from other PEs; 1 other PE too.',
      'efficiency info: 803 events were handled and 0 % of them rolled back: efficiency 100 %.',
    ]);
  });

  it('tacc_stats: a sound job of two hosts has none, and a job of few instructions a high CPI', async () => {
    const found = await of('tacc_stats', 'genuine_job1835740_2hosts');
    // Its gauges and flags are told, as `node job` tells them.
    expect(
      found.filter((line) => !/^job-(gauges|flags) (notice|info): Job 1835740: /.test(line)),
    ).toEqual([]);
    expect(found.join('\n')).toMatch(
      /^job-flags info: .* flags of tacc_stats are raised: .*packets/m,
    );
    // One number of cycles, as its gauge has it. Its made-up CPUs count 8 s of work a second: no gauge tells of that.
    const made = (await of('tacc_stats', 'fixture_snb_v2.3.0')).join('\n');
    expect(made).toMatch(/job-gauges info: Job 1981063: .* An instruction takes 1\.33 cycles/);
    expect(made).not.toMatch(/^high-cpi|of 4 cores/m);
  });

  it('GEOPM: waiting in MPI is time without alignment', async () => {
    expect((await of('geopm', 'repo')).join('\n')).toMatch(
      /^region-alignment problem: Region MPI_Waitall on mcfly4 takes 25 s, but all CPUs are in it together for only 0\.951 s/m,
    );
  });
});
