/** Combines readers of several parts into one. */
import type { SignalReader } from './provider.ts';

/** The sum of the values that are present; NaN if none is. Null without readers. */
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

/** The mean of the values that are present; NaN if none is. Null without readers. */
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

/** The number in a file, scaled. */
export function scaled(file: { number(): number }, scale: number): SignalReader {
  return { read: () => file.number() * scale };
}
