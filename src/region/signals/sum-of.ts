/** Readers of several parts as one. */
import type { SignalReader } from './provider.ts';

/** The sum of what is there; NaN where nothing is. Null of no readers. */
export function sumOf(readers: readonly SignalReader[]): SignalReader | null {
  if (readers.length <= 1) return readers[0] ?? null;
  return {
    read: () => {
      let total = Number.NaN;
      for (const reader of readers) {
        const value = reader.read();
        if (!Number.isNaN(value)) total = Number.isNaN(total) ? value : total + value;
      }
      return total;
    },
  };
}

/** The mean of what is there; NaN where nothing is. Null of no readers. */
export function meanOf(readers: readonly SignalReader[]): SignalReader | null {
  if (readers.length <= 1) return readers[0] ?? null;
  return {
    read: () => {
      let [total, count] = [0, 0];
      for (const reader of readers) {
        const value = reader.read();
        if (Number.isNaN(value)) continue;
        total += value;
        count++;
      }
      return count === 0 ? Number.NaN : total / count;
    },
  };
}

/** The number of a file, scaled. */
export function scaled(file: { number(): number }, scale: number): SignalReader {
  return { read: () => file.number() * scale };
}
