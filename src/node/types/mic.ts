/**
 * `mic`: the scheduler of each Xeon Phi coprocessor (Knights Corner), per hardware thread if the card's library
 * tells them apart. In a recorded tree, `mic/micN` has a line with cores, threads per core and jiffies, then a line with
 * user, nice, system and idle per thread.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type Mic, type MicState, openMic } from '../../os/mic.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Collector, control, counter, type NodeType } from './type.ts';

const METRICS = [
  control('num_cores', 'cores of the card'),
  control('threads_core', 'hardware threads per core'),
  counter('user_sum', 'in user mode', 'cs'),
  counter('nice_sum', 'in user mode, of processes with low priority', 'cs'),
  counter('sys_sum', 'in the kernel', 'cs'),
  counter('idle_sum', 'idle', 'cs'),
  counter('jiffy_counter', 'since the card started', 'cs'),
];

/** Numbers of the cards that run. */
function cardsOf(tree: NodeTree): number[] {
  let names: string[];
  try {
    names = readdirSync(join(tree.root, 'sys/class/mic'));
  } catch {
    return [];
  }
  return names
    .flatMap((name) => (/^mic\d+$/.test(name) ? [Number(name.slice(3))] : []))
    .filter((card) => tree.text(`sys/class/mic/mic${card}/state`) === 'online')
    .sort((a, b) => a - b);
}

function recorded(tree: NodeTree, card: number): Mic {
  return {
    read: (): MicState => {
      const path = `mic/mic${card}`;
      const rows = (tree.text(path) ?? '').split('\n').map((line) => line.trim().split(/\s+/));
      const [first, ...threads] = rows;
      if (first.length !== 3 || threads.some((row) => row.length !== 4)) {
        throw new Error(`${path}: not a line of 3 numbers, then lines of 4`);
      }
      const column = (k: number) => BigUint64Array.from(threads, (row) => BigInt(row[k]));
      return {
        cores: Number(first[0]),
        threadsPerCore: Number(first[1]),
        jiffies: BigInt(first[2]),
        user: column(0),
        nice: column(1),
        system: column(2),
        idle: column(3),
      };
    },
    close: () => {},
  };
}

interface Card {
  readonly number: number;
  readonly mic: Mic;
}

class Cards implements Collector {
  private readonly cards: readonly Card[];

  constructor(cards: readonly Card[]) {
    this.cards = cards;
  }

  collect(writer: RawWriter): void {
    let failed: unknown;
    for (const { number, mic } of this.cards) {
      try {
        this.card(writer, number, mic.read());
      } catch (error) {
        writer.dropRecord();
        failed ??= error;
      }
    }
    if (failed !== undefined) throw failed;
  }

  private card(writer: RawWriter, number: number, state: MicState): void {
    for (let thread = 0; thread < state.user.length; thread++) {
      writer.record('mic', `${number}/${thread}`);
      writer.number(state.cores);
      writer.number(state.threadsPerCore);
      for (const column of [state.user, state.nice, state.system, state.idle]) {
        writer.bigint(column[thread]);
      }
      writer.bigint(state.jiffies);
      writer.endRecord(METRICS.length);
    }
  }

  close(): void {
    for (const { mic } of this.cards) mic.close();
  }
}

const NO_CARD = 'no card is online in /sys/class/mic';

export const MIC: NodeType = {
  name: 'mic',
  help: 'scheduler accounting of Xeon Phi coprocessors',
  device: 'card/thread',
  source: 'libmicmgmt',
  metrics: METRICS,
  // A card that hangs does not answer.
  mayBlock: (tree) => {
    if (cardsOf(tree).length === 0) throw new UnavailableError(NO_CARD);
    return tree.isThisMachine;
  },
  open: (tree) => {
    const open: Card[] = [];
    let reason = NO_CARD;
    for (const number of cardsOf(tree)) {
      let mic: Mic | null = null;
      try {
        mic = tree.isThisMachine ? openMic(number) : recorded(tree, number);
        mic.read();
        open.push({ number, mic });
      } catch (error) {
        mic?.close();
        reason = (error as Error).message;
      }
    }
    if (open.length === 0) throw new UnavailableError(reason);
    return new Cards(open);
  },
};
