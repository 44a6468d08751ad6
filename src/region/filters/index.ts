/** The record filters by name. A new one is a file and a line here. */
import { editDistance } from './edit-distance.ts';
import { type RecordFilter, RecordFilterError } from './filter.ts';
import { proxyEpoch } from './proxy-epoch.ts';

const FILTERS: Readonly<Record<string, (given: readonly string[]) => RecordFilter>> = {
  proxy_epoch: proxyEpoch,
  edit_distance: editDistance,
};

/** Makes a filter from its text, such as `proxy_epoch,dgemm,2,1`. @throws RecordFilterError */
export function recordFilterFrom(text: string): RecordFilter {
  const [name, ...given] = text.split(',').map((part) => part.trim());
  const make = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (make === undefined) {
    const names = Object.keys(FILTERS).join(' or ');
    throw new RecordFilterError(`there is no record filter ${name}: use ${names}`);
  }
  return make(given);
}

export type { EpochFinder, RecordFilter } from './filter.ts';
export { RecordFilterError } from './filter.ts';
