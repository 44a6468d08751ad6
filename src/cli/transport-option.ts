/** `--transport`: whether PEs are threads or the ranks of an MPI job. */
import { oneOf } from '../model/option.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import type { OptionGroup } from './ross-options.ts';
import type { RunCommand } from './run-command.ts';

export function transportGroup(help: string, fallback: string): OptionGroup {
  const transport = oneOf({ threads: 0, mpi: 1 }, 'threads', help, { fallback });
  return { title: 'Transport', options: { transport } };
}

/** Whether it is to run over MPI: asked for, or under a launcher. */
export function wantsRanks({ own }: RunCommand): boolean {
  const asked = own.get('transport');
  return asked === 'mpi' || (asked !== 'threads' && launchedRank() !== null);
}
