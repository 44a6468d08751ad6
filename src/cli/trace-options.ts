/** `--trace-lp` of `triscope sim run`: what happens to the events of some LPs. */
import { openSync } from 'node:fs';
import { text } from '../model/option.ts';
import type { RunOptions } from '../sim/simulate.ts';
import { UsageError } from './errors.ts';
import type { RunCommand } from './run-command.ts';

export const TRACE_OPTIONS = {
  'trace-lp': text('', 'print when each event of these LPs is handled, undone and committed', {
    placeholder: 'IDS',
  }),
  'trace-lp-file': text('', 'append this to FILE instead of printing it to stderr', {
    placeholder: 'FILE',
    names: 'path',
  }),
};

/** What is asked for. @throws UsageError */
export function traceOf({
  own,
}: Pick<RunCommand<typeof TRACE_OPTIONS>, 'own'>): Pick<RunOptions, 'trace'> {
  const ids = own['trace-lp'];
  const file = own['trace-lp-file'];
  if (typeof ids !== 'string') {
    if (file !== undefined) throw new UsageError('--trace-lp-file needs --trace-lp=IDS');
    return {};
  }
  if (!/^\d+(,\d+)*$/.test(ids))
    throw new UsageError(`--trace-lp=${ids}: ids of LPs, with commas, such as 7 or 3,12`);
  const lps = ids.split(',').map(Number);
  if (typeof file !== 'string') return { trace: { lps, to: 2 } };
  try {
    return { trace: { lps, to: openSync(file, 'a') } };
  } catch (error) {
    throw new UsageError(`--trace-lp-file=${file}: cannot be written: ${(error as Error).message}`);
  }
}
