/** What /api/compare gives. Types only. */
import type { Change, Comparison } from '../../report/index.ts';

interface ComparedSide {
  readonly value: number;
  /** Standard error; null where it is not known. */
  readonly error: number | null;
}

export interface ComparedChange extends Omit<Change, 'a' | 'b'> {
  readonly a: ComparedSide | null;
  readonly b: ComparedSide | null;
}

export interface CompareFacts
  extends Pick<
    Comparison,
    'settings' | 'unlike' | 'explanation' | 'facts' | 'findings' | 'hosts' | 'notes'
  > {
  readonly changes: readonly ComparedChange[];
}
