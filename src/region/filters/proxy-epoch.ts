/** `proxy_epoch`: every n-th entry into one region begins an epoch. */
import { regionHash } from '../../model/region-hash.ts';
import { type EpochFinder, type RecordFilter, RecordFilterError, settingsFrom } from './filter.ts';
import { numberText } from './number-text.ts';

class ProxyEpoch implements EpochFinder {
  private readonly hash: number;
  private readonly calls: number;
  /** Number of entries so far, less those at the start. */
  private count: number;

  constructor(hash: number, calls: number, startup: number) {
    this.hash = hash;
    this.calls = calls;
    this.count = -startup;
  }

  entry(hash: number): number {
    if (hash !== this.hash) return 0;
    const count = this.count++;
    return count >= 0 && count % this.calls === 0 ? 1 + count / this.calls : 0;
  }
}

/** `NAME|HASH[,CALLS[,STARTUP]]`: entries per epoch (1), and entries before the first (0). @throws RecordFilterError */
export function proxyEpoch(given: readonly string[]): RecordFilter {
  const [region, ...rest] = given;
  if (region === undefined || region === '') {
    throw new RecordFilterError(
      'proxy_epoch needs a region: proxy_epoch,NAME or proxy_epoch,0xHASH',
    );
  }
  const [calls, startup] = settingsFrom('proxy_epoch', rest, [
    { name: 'calls', value: 1, whole: true, least: 1 },
    { name: 'startup', value: 0, whole: true, least: 0 },
  ]);
  const hash = numberText(region) ?? regionHash(region);
  return () => new ProxyEpoch(hash, calls, startup);
}
