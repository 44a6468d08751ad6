/** The MPI rank that a process's environment tells. */

/** Environment variables in which launchers pass a process's rank in its job. */
const RANKS = ['OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'PMIX_RANK', 'MV2_COMM_WORLD_RANK'];

/**
 * The rank in its job; null for a process without MPI.
 * @param more another variable that may hold it, such as that of a launcher whose processes need not use MPI
 */
export function rankIn(
  environment: Readonly<Record<string, string | undefined>>,
  more?: string,
): number | null {
  const names = more === undefined ? RANKS : [...RANKS, more];
  const text = names
    .map((name) => environment[name])
    .find((value) => /^\d{1,9}$/.test(value ?? ''));
  return text === undefined ? null : Number(text);
}
