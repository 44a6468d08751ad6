/**
 * Intel's management library for Xeon Phi coprocessors (Knights Corner), if it is installed: what the scheduler of
 * each card accounts for. Only functions that read are called. Source: libmicmgmt's header.
 */
import { loadLibrary } from './library.ts';

/** The counts of one card, in jiffies of 1/100 s. */
export interface MicState {
  readonly cores: number;
  readonly threadsPerCore: number;
  /** Since the card was started. */
  readonly jiffies: bigint;
  /** One element per hardware thread; per core if the library does not know threads. */
  readonly user: BigUint64Array;
  readonly nice: BigUint64Array;
  readonly system: BigUint64Array;
  readonly idle: BigUint64Array;
}

export interface Mic {
  /** @throws Error if the card does not answer */
  read(): MicState;
  close(): void;
}

const NAME = 'libmicmgmt.so.0';
/** No counter reaches this value: it marks elements that the library did not fill. */
const UNTOUCHED = 0xffffffffffffffffn;

/** Opens card `number`. @throws Error that says why not */
export function openMic(number: number, path = NAME): Mic {
  const lib = loadLibrary(path);
  const open = lib.func('int mic_open_device(_Out_ void **, uint32_t)');
  const shut = lib.func('int mic_close_device(void *)');
  const allocate = lib.func('int mic_alloc_core_util(_Out_ void **)');
  const free = lib.func('int mic_free_core_util(void *)');
  const update = lib.func('int mic_update_core_util(void *, void *)');
  const getter = (name: string) => lib.func(`int mic_get_${name}(void *, _Inout_ uint8_t *)`);
  const coresOf = getter('num_cores');
  const threadsOf = getter('threads_core');
  const jiffiesOf = getter('jiffy_counter');
  const arrays = ['user', 'nice', 'sys', 'idle'].map((name) => getter(`${name}_counters`));

  const check = (status: unknown, what: string) => {
    if (status !== 0) throw new Error(`mic${number}: ${what} failed with status ${status}`);
  };
  const card: [unknown] = [null];
  const accounts: [unknown] = [null];
  check(open(card, number), 'opening');
  if (allocate(accounts) !== 0) {
    shut(card[0]);
    throw new Error(`mic${number}: no memory for its accounts`);
  }
  const word = Buffer.alloc(8);
  return {
    read: () => {
      check(update(card[0], accounts[0]), 'reading');
      check(coresOf(accounts[0], word), 'reading cores');
      const cores = word.readUInt16LE(0);
      check(threadsOf(accounts[0], word), 'reading threads');
      const threadsPerCore = word.readUInt16LE(0);
      check(jiffiesOf(accounts[0], word), 'reading jiffies');
      const jiffies = word.readBigUInt64LE(0);
      const [user, nice, system, idle] = arrays.map((get) => {
        const values = new BigUint64Array(Math.max(1, cores * threadsPerCore)).fill(UNTOUCHED);
        check(get(accounts[0], new Uint8Array(values.buffer)), 'reading accounts');
        const end = values.indexOf(UNTOUCHED);
        return end < 0 ? values : values.subarray(0, end);
      });
      return { cores, threadsPerCore, jiffies, user, nice, system, idle };
    },
    close: () => {
      free(accounts[0]);
      shut(card[0]);
    },
  };
}
