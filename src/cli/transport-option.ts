/** `--transport`: whether PEs are threads or the ranks of an MPI job. */
import { flag, oneOf } from '../model/option.ts';
import { launchedRank } from '../os/mpi/launcher.ts';
import type { RunCommand } from './run-command.ts';

/** `help`, `fallback`: what `--transport` is for the command. */
export const transportOptions = (help: string, fallback: string) => ({
  transport: oneOf({ threads: 0, mpi: 1 }, 'threads', help, { fallback }),
  'mpi-shared': flag(
    true,
    'over MPI: events to ranks of the same machine go through shared memory',
  ),
});

type TransportCommand = RunCommand<ReturnType<typeof transportOptions>>;
type Asked = Pick<TransportCommand, 'own'>;

/** Ranks of a machine that share memory at most. */
export function mostSharing({ own }: Asked): number {
  return own['mpi-shared'] === false ? 1 : Infinity;
}

/** Whether it is to run over MPI: asked for, or under a launcher. */
export function wantsRanks({ own }: Asked): boolean {
  const asked = own.transport;
  return asked === 'mpi' || (asked !== 'threads' && launchedRank() !== null);
}
