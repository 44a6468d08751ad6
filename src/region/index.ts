/**
 * Regions: a program marks them (`region`, `epoch`), and other processes read its marks (`PageReader`).
 *
 * @module triscope/region
 */
export { HASH_UNMARKED, regionHash, regionHashBefore31 } from '../model/region-hash.ts';
export { HINTS, type Hint } from '../model/region-layout.ts';
export { epoch, type Region, region, shutdown, tprofInit, tprofPost } from './mark.ts';
export { PageError } from './page-error.ts';
export { PageReader } from './page-reader.ts';
export type { PageNode, PageRegion, PageSnapshot, PageThread } from './page-snapshot.ts';
export type { PageEvent } from './ring-reader.ts';
