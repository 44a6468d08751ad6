/** The MPI calls of a simulation, seen from outside. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { HAS_MPI, NEEDS_MPI } from '../sim/support/mpirun.ts';
import { counts, ended, freshFolder, readers, start } from './pages.ts';

const AUTO = fileURLToPath(new URL('../../dist/region/auto.js', import.meta.url));
const TRISCOPE = fileURLToPath(new URL('../../bin/triscope', import.meta.url));

describe.skipIf(!HAS_MPI)(`a simulation over MPI${NEEDS_MPI}`, () => {
  it('marks its calls as regions with the hint NETWORK, on each rank', async () => {
    const pages = freshFolder();
    const root = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
    const ranks = ['mpirun', ...root, '--oversubscribe', '-np', '2', process.execPath];
    // Ranks that share memory hardly call it.
    const run = [TRISCOPE, 'sim', 'run', 'phold', '--end=200', '--mpi-shared=0', '--json'];
    const job = start([...ranks, '--import', AUTO, ...run], pages, { TRISCOPE_AUTO: 'sim' });
    const { code, stdout } = await ended(job);
    expect(code).toBe(0);
    const { allReduces } = JSON.parse(stdout) as { allReduces: number };
    const seen = readers(pages).map((page) => page.snapshot());
    expect(seen).toHaveLength(2);
    for (const one of seen) {
      const by = Object.entries(counts(one));
      const calls = (name: string) =>
        by.filter(([path]) => path.split('/').at(-1) === name).reduce((n, [, c]) => n + c, 0);
      // The last one adds up what each rank was sent.
      expect(calls('MPI_Iallreduce')).toBe(allReduces + 1);
      expect(calls('MPI_Isend')).toBeGreaterThan(0);
      expect(calls('MPI_Test')).toBeGreaterThan(calls('MPI_Isend'));
      const mpi = one.regions.filter(({ name }) => name.startsWith('MPI_'));
      expect(mpi.map(({ name, hint }) => [name, hint]).sort()).toEqual([
        ['MPI_Iallreduce', 'network'],
        ['MPI_Irecv', 'network'],
        ['MPI_Isend', 'network'],
        ['MPI_Test', 'network'],
      ]);
      expect(one.misordered).toBe(0);
    }
  });
});
