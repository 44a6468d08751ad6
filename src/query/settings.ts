/** DuckDB's settings wherever recordings are read. */
import { availableParallelism } from 'node:os';

/** DuckDB's threads: more would need more memory each, and readers are one thread. */
export const THREADS = Math.min(4, availableParallelism());

/** No network, no extensions; and memory for intermediate results, beyond which they go to a temporary folder. */
export const SETTINGS = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  memory_limit: '512MiB',
  threads: String(THREADS),
  // Memory is given back after each statement, since recordings are opened one after the other, beside other data.
  allocator_flush_threshold: '1MiB',
  allocator_bulk_deallocation_flush_threshold: '1MiB',
  // Estimates of row counts may be far too low: an ASOF JOIN is planned as such whatever the estimate.
  asof_loop_join_threshold: '0',
} as const;

const UNITS: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4 };

/** Bytes of a size such as `512MiB` or `2 GB`; null where it is none. */
export function bytesOf(size: string): number | null {
  const [, number, unit, binary] = /^(\d+(?:\.\d+)?)\s*([KMGT])(i?)B$/i.exec(size) ?? [];
  if (number === undefined) return null;
  return Number(number) * (binary === '' ? 1000 : 1024) ** UNITS[unit.toUpperCase()];
}

/** Part of the memory that columns of raw stats files may stay in. */
const KEPT_SHARE = 3 / 8;

/** Bytes of them, by the memory for intermediate results. */
export const keptBytesOf = (memory: string): number =>
  Math.floor((bytesOf(memory) ?? 0) * KEPT_SHARE);

/** DuckDB cannot work with less. */
const LEAST = '64MiB';

/** DuckDB's part of `memory`. */
export const limitOf = (memory: string): string =>
  (bytesOf(memory) ?? 0) < (bytesOf(LEAST) ?? 0) ? LEAST : memory;

/** DuckDB's part where it writes what readers give: they need memory beside it, for blocks that are not collected yet. */
export function buildingLimitOf(memory: string): string {
  const part = (bytesOf(memory) ?? 0) / 4;
  return part < (bytesOf(LEAST) ?? 0) ? LEAST : `${Math.floor(part / 2 ** 20)}MiB`;
}
