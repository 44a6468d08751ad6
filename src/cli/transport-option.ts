/** `--transport`: whether PEs are threads or the ranks of an MPI job. */
import { flag, oneOf } from '../model/option.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import type { OptionGroup } from './ross-options.ts';
import type { RunCommand } from './run-command.ts';

export function transportGroup(help: string, fallback: string): OptionGroup {
  const transport = oneOf({ threads: 0, mpi: 1 }, 'threads', help, { fallback });
  const shared = flag(
    true,
    'over MPI: events to ranks of the same machine go through shared memory',
  );
  return { title: 'Transport', options: { transport, 'mpi-shared': shared } };
}

/** Ranks of a machine that share memory at most. */
export function mostSharing({ own }: RunCommand): number {
  return own.get('mpi-shared') === false ? 1 : Infinity;
}

/** Whether it is to run over MPI: asked for, or under a launcher. */
export function wantsRanks({ own }: RunCommand): boolean {
  const asked = own.get('transport');
  return asked === 'mpi' || (asked !== 'threads' && launchedRank() !== null);
}
