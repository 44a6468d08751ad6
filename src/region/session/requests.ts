/** What to watch: lines `SIGNAL DOMAIN INDEX`, with `*` for all indices. Source: geopmsession's manual page. */
import type { Platform, SignalInfo } from '../platform.ts';
import { SignalError } from '../signal-error.ts';
import type { SignalDomain } from '../signals/provider.ts';

/** A signal with a domain and its index, as they were written. */
export interface SignalRequest {
  /** Name or alias of a signal. */
  readonly signal: string;
  /** Name of a domain, such as `package`. */
  readonly domain: string;
  /** A number, or `*`. */
  readonly index: string;
}

/** One column of samples. */
export interface WatchColumn {
  /** `SIGNAL` at the board, `SIGNAL-domain-N` elsewhere. */
  readonly name: string;
  /** Name or alias of the signal, as requested. */
  readonly signal: string;
  /** The domain that it is read at. */
  readonly domain: SignalDomain;
  /** Index within the domain, from 0. */
  readonly index: number;
  /** What is known of the signal: unit, behaviour, provider. */
  readonly info: SignalInfo;
}

/**
 * Parses a line; null for a comment. @throws SignalError if it is no request
 * @example
 * ```ts
 * import { parseRequest } from 'triscope/signals';
 *
 * parseRequest('CPU_ENERGY package *'); // { signal: 'CPU_ENERGY', domain: 'package', index: '*' }
 * ```
 */
export function parseRequest(line: string): SignalRequest | null {
  if (line.trimStart().startsWith('#')) return null;
  const words = line.trim().split(/\s+/);
  if (words.length !== 3) {
    throw new SignalError(`'${line.trim().slice(0, 80)}' is not SIGNAL DOMAIN INDEX`);
  }
  const [signal, domain, index] = words;
  return { signal, domain, index };
}

/**
 * The columns that `requests` ask for, in their order.
 * @throws SignalError, AbsentSignalError if a request cannot be met
 * @example
 * ```ts
 * import { Platform, requestedColumns } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const columns = requestedColumns(platform, [{ signal: 'TIME', domain: 'cpu', index: '*' }]);
 * console.log(columns.map(({ name }) => name)); // TIME-cpu-0, TIME-cpu-1, …
 * platform.close();
 * ```
 */
export function requestedColumns(
  platform: Platform,
  requests: readonly SignalRequest[],
): WatchColumn[] {
  return requests.flatMap(({ signal, domain, index }) => {
    const place = platform.domain(domain);
    if (index !== '*' && !/^\d+$/.test(index)) {
      throw new SignalError(`${signal} ${domain} ${index}: the index is a number, or * for all`);
    }
    const indices = index === '*' ? platform.topology.indices(place) : [Number(index)];
    if (indices.length === 0) {
      throw new SignalError(`${signal} ${domain} *: this machine has no ${domain}`);
    }
    return indices.map((at): WatchColumn => {
      platform.push(signal, place, at);
      const info = platform.info(signal) as SignalInfo;
      const name = place === 'board' ? signal : `${signal}-${place}-${at}`;
      return { name, signal, domain: place, index: at, info };
    });
  });
}
