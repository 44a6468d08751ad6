/**
 * What differs between MPI libraries: how handles are written, and the values of constants. An implementation
 * with another ABI is one more row. Sources: mpi.h of Open MPI 4.1.4 and of MPICH 4.0.2, MPI standard 3.1.
 */

/** A handle that the library predefines. */
export type Handle = 'world' | 'byte' | 'double' | 'int' | 'noRequest' | 'noInfo';

export interface MpiAbi {
  readonly name: string;
  /** Known faults of the library; null for libraries that tests run with. */
  readonly caution: string | null;
  /** Matches what MPI_Get_library_version returns. */
  readonly says: RegExp;
  /** File names, the likeliest first. */
  readonly files: readonly string[];
  /** C type of a handle: a pointer, or a number. */
  readonly handle: 'intptr_t' | 'int';
  /** Symbols that are the handles, or whose addresses are the handles. */
  readonly handles: Readonly<Record<Handle, string | number>>;
  readonly anySource: number;
  /** MPI_THREAD_FUNNELED: only the thread that initialised MPI calls it. */
  readonly funneled: number;
  /** MPI_COMM_TYPE_SHARED */
  readonly sharedMemory: number;
  /** MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
  readonly noStatus: number;
  /** The environment variables by which a program knows that this library's launcher started it, and as which rank. */
  readonly environment: {
    readonly rank: string;
    readonly size: string;
    /** Rank among the processes of this machine, and how many these are. */
    readonly localRank: string;
    readonly local: string;
    /** The variable that tells jobs on one machine apart; null if there is none. */
    readonly job: string | null;
  };
}

const OPEN_MPI: MpiAbi = {
  name: 'Open MPI',
  caution: null,
  says: /^Open MPI/,
  files: ['libmpi.so.40', 'libmpi.so'],
  handle: 'intptr_t',
  handles: {
    world: 'ompi_mpi_comm_world',
    byte: 'ompi_mpi_byte',
    double: 'ompi_mpi_double',
    int: 'ompi_mpi_int',
    noRequest: 'ompi_request_null',
    noInfo: 'ompi_mpi_info_null',
  },
  anySource: -1,
  funneled: 1,
  sharedMemory: 0,
  noStatus: 0,
  environment: {
    rank: 'OMPI_COMM_WORLD_RANK',
    size: 'OMPI_COMM_WORLD_SIZE',
    localRank: 'OMPI_COMM_WORLD_LOCAL_RANK',
    local: 'OMPI_COMM_WORLD_LOCAL_SIZE',
    job: 'PMIX_NAMESPACE',
  },
};

/** Libraries built from MPICH share its ABI (version 12), whatever they are called. */
const MPICH: MpiAbi = {
  name: 'MPICH',
  caution: 'MPICH is an experiment: now and then a run crashes; Open MPI is what is tested',
  says: /MPICH|^Intel\(R\) MPI/,
  files: ['libmpich.so.12', 'libmpi.so.12'],
  handle: 'int',
  handles: {
    world: 0x44000000,
    byte: 0x4c00010d,
    double: 0x4c00080b,
    int: 0x4c000405,
    noRequest: 0x2c000000,
    noInfo: 0x1c000000,
  },
  anySource: -2,
  funneled: 1,
  sharedMemory: 1,
  noStatus: 1,
  environment: {
    rank: 'PMI_RANK',
    size: 'PMI_SIZE',
    localRank: 'MPI_LOCALRANKID',
    local: 'MPI_LOCALNRANKS',
    job: null,
  },
};

export const ABIS: readonly MpiAbi[] = [OPEN_MPI, MPICH];
