/**
 * Traces of MPI programs, which terminals replay: what each rank computes, sends and receives, one line each. Collective operations
 * become messages between two ranks; each receive is matched with its send here, so that handlers have nothing to look for.
 */
import { readFileSync, statSync } from 'node:fs';
import { ModelError } from '../model-error.ts';
import { COLLECTIVES } from './collectives.ts';
import { COMPUTE, RECV, SEND } from './trace-words.ts';

/** A trace as tables; the operations of a rank are one after another. */
export interface Trace {
  /** First operation of each rank, and the number of all. */
  readonly first: Readonly<ArrayLike<number>>;
  readonly what: Readonly<ArrayLike<number>>;
  /** Rank to which a message goes. */
  readonly peer: Readonly<ArrayLike<number>>;
  /** Virtual time of COMPUTE; bytes of a message. */
  readonly amount: Readonly<ArrayLike<number>>;
  /** Which of its rank's receives a RECV is; of a SEND: which of those of its destination takes it. */
  readonly slot: Readonly<ArrayLike<number>>;
}

interface ReadTrace {
  readonly ranks: number;
  /** Receives of a rank, at most. */
  readonly receives: number;
  readonly tables: {
    readonly first: Int32Array;
    readonly what: Uint8Array;
    readonly peer: Int32Array;
    readonly amount: Float64Array;
    readonly slot: Int32Array;
  };
}

const HEAD = 'triscope-trace 1';
const MOST_RANKS = 2 ** 20;
const MOST_OPERATIONS = 2 ** 24;
const MOST_BYTES = 2 ** 40;

interface Operation {
  readonly what: number;
  readonly peer: number;
  readonly amount: number;
  readonly tag: number;
  /** Line of the file, for messages. */
  readonly line: number;
  slot: number;
}

class Reader {
  private readonly path: string;
  private readonly ranks: Operation[][] = [];
  private readonly collectives: string[][] = [];
  private count = 0;
  private line = 0;
  private size = 0;

  constructor(path: string) {
    this.path = path;
  }

  read(text: string): ReadTrace {
    const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
    if (lines[0] !== HEAD) this.fail(`must begin with the line ${JSON.stringify(HEAD)}`, 1);
    const parts = lines.map((line) => line.split(/\s+/));
    // How many ranks there are must be known before the first collective operation.
    for (let k = 1; k < parts.length; k++) {
      if (lines[k] === '') continue;
      this.line = k + 1;
      this.size = Math.max(this.size, 1 + this.whole(parts[k][0], 'rank', MOST_RANKS - 1));
    }
    if (this.size === 0) this.fail('has no operations', 1);
    for (let r = 0; r < this.size; r++) {
      this.ranks.push([]);
      this.collectives.push([]);
    }
    for (let k = 1; k < parts.length; k++) {
      if (lines[k] === '') continue;
      this.line = k + 1;
      this.operation(Number(parts[k][0]), parts[k][1] ?? '', parts[k].slice(2));
    }
    this.compareCollectives();
    return this.matched();
  }

  private fail(what: string, line = this.line): never {
    throw new ModelError(`${this.path}:${line}: ${what}`);
  }

  private whole(text: string | undefined, what: string, most: number): number {
    const value = Number(text);
    if (text !== undefined && /^\d+$/.test(text) && value <= most) return value;
    this.fail(`${what} ${text ?? ''} must be a whole number from 0 to ${most}`);
  }

  private add(rank: number, what: number, peer: number, amount: number, tag: number): void {
    if (++this.count > MOST_OPERATIONS) this.fail(`more than ${MOST_OPERATIONS} operations`);
    this.ranks[rank].push({ what, peer, amount, tag, line: this.line, slot: -1 });
  }

  private operation(rank: number, name: string, words: readonly string[]): void {
    const takes = (least: number, most: number, form: string) => {
      if (words.length < least || words.length > most) this.fail(`must be: RANK ${name}${form}`);
    };
    const peer = () => this.whole(words[0], 'rank', this.size - 1);
    const tag = (text: string | undefined) =>
      text === undefined ? 0 : this.whole(text, 'tag', 2 ** 31 - 1);
    if (name === 'compute') {
      takes(1, 1, ' TIME');
      const time = Number(words[0]);
      if (!(time >= 0 && time < Infinity)) this.fail(`time ${words[0]} must be a number from 0 on`);
      this.add(rank, COMPUTE, -1, time, 0);
    } else if (name === 'send') {
      takes(2, 3, ' TO BYTES [TAG]');
      this.add(rank, SEND, peer(), this.whole(words[1], 'bytes', MOST_BYTES), tag(words[2]));
    } else if (name === 'recv') {
      takes(1, 2, ' FROM [TAG]');
      this.add(rank, RECV, peer(), 0, tag(words[1]));
    } else if (Object.hasOwn(COLLECTIVES, name)) {
      const { hasRoot, hasBytes, rounds } = COLLECTIVES[name];
      const least = Number(hasRoot) + Number(hasBytes);
      takes(least, least, `${hasRoot ? ' ROOT' : ''}${hasBytes ? ' BYTES' : ''}`);
      const root = hasRoot ? peer() : 0;
      const bytes = hasBytes ? this.whole(words.at(-1), 'bytes', MOST_BYTES) : 0;
      // Collective operations of all ranks have tags of their own, in order.
      const own = this.collectives[rank];
      own.push(`${name}${hasRoot ? ` of root ${root}` : ''}${hasBytes ? `, ${bytes} bytes` : ''}`);
      for (const { what, peer: other } of rounds(rank, this.size, root))
        this.add(rank, what, other, bytes, -own.length);
    } else {
      const known = ['compute', 'send', 'recv', ...Object.keys(COLLECTIVES)].join(', ');
      this.fail(`no such operation: ${name}; there are ${known}`);
    }
  }

  /** All ranks must take part in all collective operations, in the same order. */
  private compareCollectives(): void {
    const [all] = this.collectives;
    this.collectives.forEach((own, rank) => {
      const k = Array.from({ length: Math.max(own.length, all.length) }).findIndex(
        (_, n) => own[n] !== all[n],
      );
      if (k < 0) return;
      throw new ModelError(
        `${this.path}: collective operation ${k + 1} of rank ${rank} is ${own[k] ?? 'missing'}; that of rank 0 is ${all[k] ?? 'missing'}`,
      );
    });
  }

  /** Message k of one rank to another with some tag is taken by the k-th receive of these. */
  private matched(): ReadTrace {
    const waiting = new Map<string, Operation[]>();
    let receives = 0;
    this.ranks.forEach((operations, rank) => {
      let slot = 0;
      for (const one of operations) {
        if (one.what !== RECV) continue;
        one.slot = slot++;
        const key = `${one.peer} ${rank} ${one.tag}`;
        const before = waiting.get(key);
        if (before === undefined) waiting.set(key, [one]);
        else before.push(one);
      }
      receives = Math.max(receives, slot);
    });
    const taken = new Map<string, number>();
    const bytesOf = new Map<Operation, number>();
    this.ranks.forEach((operations, rank) => {
      for (const one of operations) {
        if (one.what !== SEND) continue;
        const key = `${rank} ${one.peer} ${one.tag}`;
        const k = taken.get(key) ?? 0;
        const receive = waiting.get(key)?.[k];
        if (receive === undefined)
          this.fail(`rank ${one.peer} has no receive for this message`, one.line);
        one.slot = receive.slot;
        bytesOf.set(receive, one.amount);
        taken.set(key, k + 1);
      }
    });
    for (const [key, some] of waiting) {
      const k = taken.get(key) ?? 0;
      if (k < some.length)
        this.fail(`rank ${some[k].peer} sends no message for this receive`, some[k].line);
    }
    const all = this.ranks.flat();
    const first = new Int32Array(this.size + 1);
    this.ranks.forEach((operations, rank) => {
      first[rank + 1] = first[rank] + operations.length;
    });
    return {
      ranks: this.size,
      receives,
      tables: {
        first,
        what: Uint8Array.from(all, ({ what }) => what),
        peer: Int32Array.from(all, ({ peer }) => peer),
        amount: Float64Array.from(all, (one) => bytesOf.get(one) ?? one.amount),
        slot: Int32Array.from(all, ({ slot }) => slot),
      },
    };
  }
}

/** What an empty path stands for. */
const NONE: ReadTrace = {
  ranks: 0,
  receives: 0,
  tables: {
    first: new Int32Array(1),
    what: new Uint8Array(1),
    peer: new Int32Array(1),
    amount: new Float64Array(1),
    slot: new Int32Array(1),
  },
};

const last = { key: '', trace: NONE };

/** Reads a trace; the last one is kept, since sizes of fields ask for it again and again. @throws ModelError that names file and line */
export function readTrace(path: string): ReadTrace {
  if (path === '') return NONE;
  try {
    const { mtimeMs, size } = statSync(path);
    const key = `${path} ${mtimeMs} ${size}`;
    if (last.key !== key) {
      last.trace = new Reader(path).read(readFileSync(path, 'utf8'));
      last.key = key;
    }
    return last.trace;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ModelError(
      `--trace=${path}: ${code === 'ENOENT' ? 'there is no such file' : message}`,
    );
  }
}
