/** What a job of `sim verify` over MPI found: its rows, or why there are none. */
import { MissingPieceError } from '../model/error.ts';
import { failedRow, type VerifyRow } from '../sim/verify.ts';
import { EXIT } from './errors.ts';
import type { JobOutcome } from './ranks.ts';

/** Line of the program's own on stderr, among the launcher's. */
const OWN = /^triscope: (.*)$/m;

/** All rows except the sequential one. A failed job is one row. @throws MissingPieceError */
export function rowsOfJob(ranks: number, { code, out, err }: JobOutcome): VerifyRow[] {
  const said = OWN.exec(err)?.[1];
  if (code === EXIT.missing && said !== undefined) throw new MissingPieceError(said);
  try {
    const { runs } = JSON.parse(out) as { readonly runs: readonly VerifyRow[] };
    return runs.slice(1);
  } catch {
    const why = said ?? err.trim().split('\n')[0] ?? '';
    const one = { name: `${ranks} ranks`, settings: { synch: 'optimistic', pes: ranks } } as const;
    return [failedRow(one, why === '' ? `the launcher ended with ${code}` : why)];
  }
}
