/**
 * The ranks of one MPI job, through koffi: only the calls that a simulation makes. All of them must be made by the
 * thread that opened the world. Source: MPI standard 3.1.
 *
 * An error in an MPI call ends the job with the library's message (MPI_ERRORS_ARE_FATAL, the default).
 */

import { createRequire } from 'node:module';
import {
  engineMarks,
  MARK_MPI_RECEIVE,
  MARK_MPI_REDUCE,
  MARK_MPI_SEND,
  MARK_MPI_TEST,
} from '../../model/engine-marks.ts';
import { MissingPieceError } from '../../model/error.ts';
import { ABIS, type Handle, type MpiAbi } from './abi.ts';
import { launchedRank, likelyAbis } from './launcher.ts';
import { type Pinned, pinned } from './memory.ts';

type Koffi = typeof import('koffi');
type Library = ReturnType<Koffi['load']>;
type Call = (...args: readonly unknown[]) => number;

/** Tags of messages: of batches, of what is gathered at the end, of messages whose size both sides know. */
const BATCH = 1;
const PART = 2;
const FIXED = 3;
/** MPI's counts are ints. */
const MOST_BYTES = 0x7fffffff;

/** Handles of operations under way, in memory that does not move, since MPI writes to them. Initially they name no operation. */
export interface Requests {
  /** Address of each; they follow each other. */
  readonly at: readonly number[];
}

/** Combines another rank's words with this one's; the result goes into `into`. Must be associative and commutative. */
type Combine = (from: Float64Array, into: Float64Array) => void;

/** A reduction over all ranks; one is under way at a time. Each rank contributes its words, and all get the combined words. */
export interface Reduction {
  readonly mine: Float64Array;
  readonly all: Float64Array;
  /** All ranks must start the same reductions in the same order. `mine` must not change until `done`. */
  start(): void;
  done(): boolean;
  /** Frees what it has allocated in MPI. No reduction may be under way. */
  close(): void;
}

const MISSING =
  'apt-get install openmpi-bin libopenmpi3, or the MPI of your cluster; or set TRISCOPE_LIBMPI to its path';

/** The first MPI library that can be loaded. */
function loadAny(koffi: Koffi): Library {
  const own = process.env.TRISCOPE_LIBMPI;
  const files = own === undefined ? likelyAbis().flatMap((abi) => abi.files) : [own];
  for (const file of files) {
    try {
      // RTLD_GLOBAL, since the library's plug-ins look for its symbols.
      return koffi.load(file, { global: true });
    } catch {
      // Try the next one.
    }
  }
  throw new MissingPieceError(`no MPI library (${files.join(', ')}): ${MISSING}`);
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
  /** The first part of the library's description of itself. */
  readonly library: string;
  private readonly koffi: Koffi;
  private readonly abi: MpiAbi;
  private readonly lib: Library;
  private readonly world: number;
  private readonly byte: number;
  /** Marks MPI calls as regions, for observers outside of the simulator. */
  private readonly marks = engineMarks();
  /** Where MPI writes whether something is done. */
  private readonly flag: Pinned;
  private readonly flagWord: Int32Array;
  private readonly isend: Call;
  private readonly initiate: Call;
  private readonly test: Call;
  private readonly testSome: Call;
  private readonly send: Call;
  private readonly receive: Call;

  /** Starts MPI in this process; once only. @throws MissingPieceError */
  constructor() {
    this.koffi = loadKoffi();
    this.lib = loadAny(this.koffi);
    this.library = this.versionOf();
    const abi = ABIS.find(({ says }) => says.test(this.library));
    if (abi === undefined) {
      throw new MissingPieceError(
        `this MPI library is '${this.library}'; known libraries: ${ABIS.map((a) => a.name).join(', ')}`,
      );
    }
    this.abi = abi;
    this.flag = pinned(8);
    this.flagWord = new Int32Array(this.flag.memory);
    const at = this.flag.address;
    this.call('MPI_Init_thread', 'PTR, PTR, int, PTR')(0, 0, abi.funneled, at);
    this.world = this.handle('world');
    this.byte = this.handle('byte');
    this.call('MPI_Comm_rank', 'HANDLE, PTR')(this.world, at);
    this.rank = this.flagWord[0];
    this.call('MPI_Comm_size', 'HANDLE, PTR')(this.world, at);
    this.size = this.flagWord[0];
    this.expectLaunchedSize();
    this.isend = this.call('MPI_Isend', 'PTR, int, HANDLE, int, int, HANDLE, PTR');
    this.initiate = this.call('MPI_Start', 'PTR');
    this.test = this.call('MPI_Test', 'PTR, PTR, PTR');
    this.testSome = this.call('MPI_Testsome', 'int, PTR, PTR, PTR, PTR');
    this.send = this.call('MPI_Send', 'void *, int, HANDLE, int, int, HANDLE');
    this.receive = this.call('MPI_Recv', 'void *, int, HANDLE, int, int, HANDLE, PTR');
  }

  /** @param takes C types. PTR is an address, HANDLE a handle: both are numbers here */
  private call(name: string, takes: string): Call {
    const types = takes.replaceAll('PTR', 'intptr_t').replaceAll('HANDLE', this.abi.handle);
    return this.lib.func(`int ${name}(${types})`) as Call;
  }

  /** Known faults of this library; null if tests run with it. */
  get caution(): string | null {
    return this.abi.caution;
  }

  private versionOf(): string {
    const text = Buffer.alloc(8192);
    const length = new Int32Array(1);
    this.lib.func('int MPI_Get_library_version(void *, void *)')(text, length);
    return text.toString('latin1', 0, length[0]).split(/[,\n]/)[0] ?? '';
  }

  private handle(name: Handle): number {
    const handle = this.abi.handles[name];
    return typeof handle === 'number' ? handle : Number(this.lib.symbol(handle));
  }

  /** With the launcher of another library, each rank would believe to be alone. */
  private expectLaunchedSize(): void {
    const launched = launchedRank()?.size ?? this.size;
    if (launched === this.size) return;
    this.close();
    throw new MissingPieceError(
      `the launcher has started ${launched} ranks, but ${this.library} sees ${this.size}: it is not the launcher's library; set TRISCOPE_LIBMPI to the path of that one`,
    );
  }

  requests(count: number): Requests {
    const bytes = this.abi.handle === 'int' ? 4 : 8;
    const { address, memory } = pinned(count * bytes);
    const none = this.handle('noRequest');
    if (bytes === 4) new Int32Array(memory).fill(none);
    else new BigUint64Array(memory).fill(BigInt(none));
    return { at: Array.from({ length: count }, (_, k) => address + k * bytes) };
  }

  /** Begins to send a batch. MPI owns the memory until `done(request)`. */
  startSend(address: number, bytes: number, to: number, request: number): void {
    this.marks?.enter(MARK_MPI_SEND);
    this.isend(address, bytes, this.byte, to, BATCH, this.world, request);
    this.marks?.exit(MARK_MPI_SEND);
  }

  /** Prepares to receive a batch of at most `bytes` from any rank into this memory; each `startReceive(request)` receives one. */
  prepareReceive(address: number, bytes: number, request: number): void {
    const prepare = this.call('MPI_Recv_init', 'PTR, int, HANDLE, int, int, HANDLE, PTR');
    prepare(address, bytes, this.byte, this.abi.anySource, BATCH, this.world, request);
  }

  /** Begins to receive a batch; batches fill receives in the order of these calls. */
  startReceive(request: number): void {
    this.marks?.enter(MARK_MPI_RECEIVE);
    this.initiate(request);
    this.marks?.exit(MARK_MPI_RECEIVE);
  }

  /** Whether the operation is complete. True again if it was so before. */
  done(request: number): boolean {
    this.marks?.enter(MARK_MPI_TEST);
    this.test(request, this.flag.address, this.abi.noStatus);
    this.marks?.exit(MARK_MPI_TEST);
    return this.flagWord[0] !== 0;
  }

  /**
   * Which of `count` sends, whose requests begin at `request`, have completed since the last call. Returns
   * how many (negative: none is under way), and writes their numbers to `indices`.
   */
  doneSome(count: number, request: number, indices: Pinned): number {
    this.marks?.enter(MARK_MPI_TEST);
    this.testSome(count, request, this.flag.address, indices.address, this.abi.noStatus);
    this.marks?.exit(MARK_MPI_TEST);
    return this.flagWord[0];
  }

  /** Frees a prepared receive. @param started a receive was started that nothing will fill */
  dropReceive(request: number, started: boolean): void {
    if (started) {
      this.call('MPI_Cancel', 'PTR')(request);
      this.call('MPI_Wait', 'PTR, PTR')(request, this.abi.noStatus);
    }
    this.call('MPI_Request_free', 'PTR')(request);
  }

  /** A reduction over `words` doubles that are combined as a whole. */
  reduction(words: number, combine: Combine): Reduction {
    const bytes = words * 8;
    const mine = pinned(bytes);
    const all = pinned(bytes);
    const from = pinned(bytes);
    const into = pinned(bytes);
    const a = new Float64Array(from.memory);
    const b = new Float64Array(into.memory);
    const memcpy = this.koffi
      .load(null)
      .func('intptr_t memcpy(intptr_t, intptr_t, size_t)') as unknown as Call;
    // All words are one element of a datatype, so that MPI never passes a part of them.
    const merge = (theirs: number, ours: number) => {
      memcpy(from.address, theirs, bytes);
      memcpy(into.address, ours, bytes);
      combine(a, b);
      memcpy(ours, into.address, bytes);
    };
    const callback = this.koffi.register(
      merge,
      this.koffi.pointer(this.koffi.proto('void (intptr_t, intptr_t, void *, void *)')),
    );
    const type = pinned(8);
    const op = pinned(8);
    this.call('MPI_Type_contiguous', 'int, HANDLE, PTR')(
      words,
      this.handle('double'),
      type.address,
    );
    this.call('MPI_Type_commit', 'PTR')(type.address);
    this.call('MPI_Op_create', 'void *, int, PTR')(callback, 1, op.address);
    const [typeHandle, opHandle] = [type, op].map(({ memory }) => this.handleIn(memory));
    const [request] = this.requests(1).at;
    const reduce = this.call('MPI_Iallreduce', 'PTR, PTR, int, HANDLE, HANDLE, HANDLE, PTR');
    return {
      mine: new Float64Array(mine.memory),
      all: new Float64Array(all.memory),
      start: () => {
        this.marks?.enter(MARK_MPI_REDUCE);
        reduce(mine.address, all.address, 1, typeHandle, opHandle, this.world, request);
        this.marks?.exit(MARK_MPI_REDUCE);
      },
      done: () => this.done(request),
      close: () => {
        this.call('MPI_Type_free', 'PTR')(type.address);
        this.call('MPI_Op_free', 'PTR')(op.address);
        this.koffi.unregister(callback);
      },
    };
  }

  private handleIn(memory: ArrayBuffer): number {
    return this.abi.handle === 'int'
      ? new Int32Array(memory)[0]
      : Number(new BigUint64Array(memory)[0]);
  }

  /** The ranks, including this one, that can share memory with it, in order. All ranks call it. */
  neighbours(): number[] {
    const comm = pinned(8);
    const { sharedMemory } = this.abi;
    const split = this.call('MPI_Comm_split_type', 'HANDLE, int, int, HANDLE, PTR');
    split(this.world, sharedMemory, this.rank, this.handle('noInfo'), comm.address);
    const host = this.handleIn(comm.memory);
    this.call('MPI_Comm_size', 'HANDLE, PTR')(host, this.flag.address);
    const ranks = pinned(4 * this.flagWord[0]);
    const int = this.handle('int');
    this.flagWord[0] = this.rank;
    const gather = this.call('MPI_Allgather', 'PTR, int, HANDLE, PTR, int, HANDLE, HANDLE');
    gather(this.flag.address, 1, int, ranks.address, 1, int, host);
    this.call('MPI_Comm_free', 'PTR')(comm.address);
    return [...new Int32Array(ranks.memory)];
  }

  /** Waits until all ranks have arrived here. */
  meet(): void {
    this.call('MPI_Barrier', 'HANDLE')(this.world);
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

  /** Each rank's bytes, in the order of ranks, on all of them. Waits for all ranks. */
  exchange(mine: Uint8Array): Uint8Array[] {
    const parts = this.gather(mine);
    const lengths = new Int32Array(this.size);
    if (parts !== null) for (const [k, part] of parts.entries()) lengths[k] = part.byteLength;
    this.broadcast(new Uint8Array(lengths.buffer));
    const all = new Uint8Array(lengths.reduce((a, b) => a + b, 0));
    let at = 0;
    const starts = Array.from(lengths, (length) => {
      at += length;
      return at - length;
    });
    if (parts !== null) for (const [k, part] of parts.entries()) all.set(part, starts[k]);
    this.broadcast(all);
    return starts.map((start, k) => all.subarray(start, start + lengths[k]));
  }

  /** Sends bytes to rank 0, which must call `hear`. */
  tell(bytes: Uint8Array): void {
    if (bytes.byteLength > MOST_BYTES) throw new Error('a rank has more than 2 GiB to send');
    this.send(new Int32Array([bytes.byteLength]), 4, this.byte, 0, PART, this.world);
    this.send(bytes, bytes.byteLength, this.byte, 0, PART, this.world);
  }

  /** The next bytes that `rank` sends with `tell`. */
  hear(rank: number): Uint8Array {
    const length = new Int32Array(1);
    this.receive(length, 4, this.byte, rank, PART, this.world, this.abi.noStatus);
    const bytes = new Uint8Array(length[0]);
    this.receive(bytes, bytes.byteLength, this.byte, rank, PART, this.world, this.abi.noStatus);
    return bytes;
  }

  /** Sends words to rank `to`, which must call `take` for as many; returns once the words may change. */
  put(words: BigInt64Array, to: number): void {
    this.send(words, words.byteLength, this.byte, to, FIXED, this.world);
  }

  /** Waits for the words that rank `from` sends with `put`. */
  take(words: BigInt64Array, from: number): void {
    this.receive(words, words.byteLength, this.byte, from, FIXED, this.world, this.abi.noStatus);
  }

  /** Gives rank 0's `bytes` to all ranks; all pass the same number of bytes. */
  broadcast(bytes: Uint8Array): void {
    const call = this.call('MPI_Bcast', 'void *, int, HANDLE, int, HANDLE');
    call(bytes, bytes.byteLength, this.byte, 0, this.world);
  }

  /** Ends the processes of all ranks. */
  abort(code: number): void {
    this.call('MPI_Abort', 'HANDLE, int')(this.world, code);
  }

  /** Must be the last call. Waits for all ranks. */
  close(): void {
    this.call('MPI_Finalize', '')();
  }
}
