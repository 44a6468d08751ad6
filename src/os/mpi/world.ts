/**
 * The ranks of one MPI job, through koffi: the calls that a simulation makes and no others. All of them belong to the
 * thread that opened the world. Source: MPI standard 3.1.
 *
 * Errors of MPI calls end the job with a message of the library's (MPI_ERRORS_ARE_FATAL, the default).
 */
import { createRequire } from 'node:module';
import {
  engineMarks,
  MARK_MPI_RECEIVE,
  MARK_MPI_REDUCE,
  MARK_MPI_SEND,
  MARK_MPI_TEST,
} from '../../model/engine-marks.ts';
import { ABIS, type MpiAbi } from './abi.ts';
import { type Pinned, pinned } from './memory.ts';

type Koffi = typeof import('koffi');
type Library = ReturnType<Koffi['load']>;
type Call = (...args: readonly unknown[]) => number;

/** There is no MPI library here, or none that is known. */
export class MissingPieceError extends Error {
  override readonly name = 'MissingPieceError';
}

/** Tags: of batches, of what is gathered in the end, of messages whose size both sides know. */
const BATCH = 1;
const PART = 2;
const FIXED = 3;
/** MPI counts are ints. */
const MOST_BYTES = 0x7fffffff;

/** Handles of operations under way, in pinned memory: MPI writes to them. */
export interface Requests {
  /** Address of each. */
  readonly at: readonly bigint[];
}

/** Combines one rank's words with those of others: associative and commutative, the result in `into`. */
export type Combine = (from: Float64Array, into: Float64Array) => void;

/** An agreement of all ranks, one at a time: each puts its words in, all get what they combine to. */
export interface Reduction {
  readonly mine: Float64Array;
  readonly all: Float64Array;
  /** All ranks must start the same reductions in the same order. `mine` must not change until `done`. */
  start(): void;
  done(): boolean;
}

const MISSING =
  'apt-get install openmpi-bin libopenmpi3, or the MPI of your cluster; or set TRISCOPE_LIBMPI to its path';

function loadAny(koffi: Koffi): { library: Library; abi: MpiAbi } {
  const tried: string[] = [];
  for (const abi of ABIS) {
    const own = process.env.TRISCOPE_LIBMPI;
    for (const file of own === undefined ? abi.files : [own]) {
      try {
        // Its plug-ins look for the library's own symbols.
        return { library: koffi.load(file, { global: true }), abi };
      } catch {
        tried.push(file);
      }
    }
  }
  throw new MissingPieceError(`no MPI library (${tried.join(', ')}): ${MISSING}`);
}

function loadKoffi(): Koffi {
  try {
    return createRequire(import.meta.url)('koffi') as Koffi;
  } catch {
    throw new MissingPieceError('MPI needs koffi: npm install koffi');
  }
}

export class MpiWorld {
  readonly rank: number;
  readonly size: number;
  /** What the library says of itself, its first part. */
  readonly library: string;
  private readonly koffi: Koffi;
  private readonly abi: MpiAbi;
  private readonly lib: Library;
  private readonly world: bigint;
  private readonly byte: bigint;
  /** Regions, for whoever looks on from outside. */
  private readonly marks = engineMarks();
  private readonly flag: Pinned;
  private readonly flagWord: Int32Array;
  private readonly isend: Call;
  private readonly irecv: Call;
  private readonly test: Call;
  private readonly send: Call;
  private readonly receive: Call;

  /** Starts MPI in this process, once. @throws MissingPieceError */
  constructor() {
    this.koffi = loadKoffi();
    const { library, abi } = loadAny(this.koffi);
    this.lib = library;
    this.abi = abi;
    this.library = this.versionOf();
    if (!this.library.startsWith(abi.says)) {
      throw new MissingPieceError(
        `this MPI library is '${this.library}'; known are: ${ABIS.map((a) => a.name).join(', ')}`,
      );
    }
    this.flag = pinned(8);
    this.flagWord = new Int32Array(this.flag.memory);
    const at = this.flag.address;
    this.call('MPI_Init_thread', 'void *, void *, int, void *')(null, null, abi.funneled, at);
    this.world = library.symbol(abi.symbols.world) as bigint;
    this.byte = library.symbol(abi.symbols.byte) as bigint;
    this.call('MPI_Comm_rank', 'void *, void *')(this.world, at);
    this.rank = this.flagWord[0];
    this.call('MPI_Comm_size', 'void *, void *')(this.world, at);
    this.size = this.flagWord[0];
    this.isend = this.call('MPI_Isend', 'void *, int, void *, int, int, void *, void *');
    this.irecv = this.call('MPI_Irecv', 'void *, int, void *, int, int, void *, void *');
    this.test = this.call('MPI_Test', 'void *, void *, void *');
    this.send = this.call('MPI_Send', 'void *, int, void *, int, int, void *');
    this.receive = this.call('MPI_Recv', 'void *, int, void *, int, int, void *, void *');
  }

  private call(name: string, takes: string): Call {
    return this.lib.func(`int ${name}(${takes})`) as Call;
  }

  private versionOf(): string {
    const text = Buffer.alloc(8192);
    const length = new Int32Array(1);
    this.call('MPI_Get_library_version', 'void *, void *')(text, length);
    return text.toString('latin1', 0, length[0]).split(/[,\n]/)[0] ?? '';
  }

  requests(count: number): Requests {
    const { address } = pinned(count * this.abi.handleBytes);
    return {
      at: Array.from({ length: count }, (_, k) => address + BigInt(k * this.abi.handleBytes)),
    };
  }

  /** Starts to send a batch. The memory belongs to MPI until `done(request)`. */
  startSend(address: bigint, bytes: number, to: number, request: bigint): void {
    this.marks?.enter(MARK_MPI_SEND);
    this.isend(address, bytes, this.byte, to, BATCH, this.world, request);
    this.marks?.exit(MARK_MPI_SEND);
  }

  /** Starts to receive a batch of at most `bytes` from any rank; batches fill receives in the order of these calls. */
  startReceive(address: bigint, bytes: number, request: bigint): void {
    this.marks?.enter(MARK_MPI_RECEIVE);
    this.irecv(address, bytes, this.byte, this.abi.anySource, BATCH, this.world, request);
    this.marks?.exit(MARK_MPI_RECEIVE);
  }

  /** Whether it is complete. True again where it was before. */
  done(request: bigint): boolean {
    this.marks?.enter(MARK_MPI_TEST);
    this.test(request, this.flag.address, this.abi.noStatus);
    this.marks?.exit(MARK_MPI_TEST);
    return this.flagWord[0] !== 0;
  }

  /** Gives up a receive that nothing will fill. */
  cancel(request: bigint): void {
    this.call('MPI_Cancel', 'void *')(request);
    this.call('MPI_Wait', 'void *, void *')(request, this.abi.noStatus);
  }

  /** An agreement over `words` doubles that are combined as a whole. */
  reduction(words: number, combine: Combine): Reduction {
    const bytes = words * 8;
    const mine = pinned(bytes);
    const all = pinned(bytes);
    const from = pinned(bytes);
    const into = pinned(bytes);
    const a = new Float64Array(from.memory);
    const b = new Float64Array(into.memory);
    const memcpy = this.koffi.load(null).func('void *memcpy(void *, void *, size_t)');
    // All words are one element, so that MPI never hands over a part of them.
    const merge = (theirs: unknown, ours: unknown) => {
      memcpy(from.address, theirs, bytes);
      memcpy(into.address, ours, bytes);
      combine(a, b);
      memcpy(ours, into.address, bytes);
    };
    const callback = this.koffi.register(
      merge,
      this.koffi.pointer(this.koffi.proto('void (void *, void *, void *, void *)')),
    );
    const type = this.handleFrom((at) => {
      const double = this.lib.symbol(this.abi.symbols.double);
      this.call('MPI_Type_contiguous', 'int, void *, void *')(words, double, at);
      this.call('MPI_Type_commit', 'void *')(at);
    });
    const op = this.handleFrom((at) => {
      this.call('MPI_Op_create', 'void *, int, void *')(callback, 1, at);
    });
    const [request] = this.requests(1).at;
    const reduce = this.call(
      'MPI_Iallreduce',
      'void *, void *, int, void *, void *, void *, void *',
    );
    return {
      mine: new Float64Array(mine.memory),
      all: new Float64Array(all.memory),
      start: () => {
        this.marks?.enter(MARK_MPI_REDUCE);
        reduce(mine.address, all.address, 1, type, op, this.world, request);
        this.marks?.exit(MARK_MPI_REDUCE);
      },
      done: () => this.done(request),
    };
  }

  private handleFrom(make: (at: bigint) => void): bigint {
    const { address, memory } = pinned(8);
    make(address);
    return new BigUint64Array(memory)[0];
  }

  /** Waits for all ranks to get here. */
  meet(): void {
    this.call('MPI_Barrier', 'void *')(this.world);
  }

  /** Each rank's bytes, in the order of ranks, on rank 0; null on the others. Waits for all ranks. */
  gather(mine: Uint8Array): Uint8Array[] | null {
    if (this.rank !== 0) {
      this.tell(mine);
      return null;
    }
    const parts = [mine];
    for (let rank = 1; rank < this.size; rank++) parts.push(this.hear(rank));
    return parts;
  }

  /** Sends bytes to rank 0, which must `hear` them. */
  tell(bytes: Uint8Array): void {
    if (bytes.byteLength > MOST_BYTES) throw new Error('a rank has more than 2 GiB to tell');
    this.send(new Int32Array([bytes.byteLength]), 4, this.byte, 0, PART, this.world);
    this.send(bytes, bytes.byteLength, this.byte, 0, PART, this.world);
  }

  /** What `rank` tells next. */
  hear(rank: number): Uint8Array {
    const length = new Int32Array(1);
    this.receive(length, 4, this.byte, rank, PART, this.world, this.abi.noStatus);
    const bytes = new Uint8Array(length[0]);
    this.receive(bytes, bytes.byteLength, this.byte, rank, PART, this.world, this.abi.noStatus);
    return bytes;
  }

  /** Sends words to rank `to`, which must `take` as many; returns once they may change. */
  put(words: BigInt64Array, to: number): void {
    this.send(words, words.byteLength, this.byte, to, FIXED, this.world);
  }

  /** Waits for the words that rank `from` puts. */
  take(words: BigInt64Array, from: number): void {
    this.receive(words, words.byteLength, this.byte, from, FIXED, this.world, this.abi.noStatus);
  }

  /** Gives rank 0's `bytes` to all: the same number on each. */
  broadcast(bytes: Uint8Array): void {
    const call = this.call('MPI_Bcast', 'void *, int, void *, int, void *');
    call(bytes, bytes.byteLength, this.byte, 0, this.world);
  }

  /** Ends the processes of all ranks. */
  abort(code: number): void {
    this.call('MPI_Abort', 'void *, int')(this.world, code);
  }

  /** The last call. Waits for all ranks. */
  close(): void {
    this.call('MPI_Finalize', '')();
  }
}
