/**
 * What differs between MPI libraries: how handles are written, and the values of constants. An implementation
 * with another ABI is one more row. Sources: mpi.h of Open MPI 4.1, MPI standard 3.1.
 */

/** A handle that the library defines. */
export type Handle = 'world' | 'byte' | 'double';

export interface MpiAbi {
  readonly name: string;
  /** Start of what MPI_Get_library_version says. */
  readonly says: string;
  /** File names, the likeliest first. */
  readonly files: readonly string[];
  /** Bytes of a handle: a pointer, or an int. */
  readonly handleBytes: 4 | 8;
  /** Symbols whose addresses are the handles. */
  readonly symbols: Readonly<Record<Handle, string>>;
  readonly anySource: number;
  /** MPI_THREAD_FUNNELED: only the thread that initialised it calls. */
  readonly funneled: number;
  /** MPI_STATUS_IGNORE. */
  readonly noStatus: bigint;
  /** By which environment a program knows that its launcher started it, and as what. */
  readonly environment: {
    readonly rank: string;
    readonly size: string;
    /** Rank among those of this machine, and how many these are. */
    readonly localRank: string;
    readonly local: string;
    /** What tells jobs of one machine apart. */
    readonly job: string;
  };
  /** How its launcher is called, and told that it may run as root and share CPUs. */
  readonly launcher: {
    readonly file: string;
    readonly asRoot: readonly string[];
    readonly crowded: readonly string[];
  };
}

export const OPEN_MPI: MpiAbi = {
  name: 'Open MPI',
  says: 'Open MPI',
  files: ['libmpi.so.40', 'libmpi.so'],
  handleBytes: 8,
  symbols: { world: 'ompi_mpi_comm_world', byte: 'ompi_mpi_byte', double: 'ompi_mpi_double' },
  anySource: -1,
  funneled: 1,
  noStatus: 0n,
  environment: {
    rank: 'OMPI_COMM_WORLD_RANK',
    size: 'OMPI_COMM_WORLD_SIZE',
    localRank: 'OMPI_COMM_WORLD_LOCAL_RANK',
    local: 'OMPI_COMM_WORLD_LOCAL_SIZE',
    job: 'PMIX_NAMESPACE',
  },
  launcher: { file: 'mpirun', asRoot: ['--allow-run-as-root'], crowded: ['--oversubscribe'] },
};

export const ABIS: readonly MpiAbi[] = [OPEN_MPI];
