/** Writing ROSS's instrumentation files: rows and events to bytes, and the texts beside them. */

export { lpTypesText } from '../lp-types.ts';
export {
  EVENT_BYTES,
  EVENT_WORDS,
  event2017Bytes,
  eventRow2017Words,
  packEvents2017,
  writeEvent24,
  writeEvent24At,
  writeEvent2017,
} from './events.ts';
export { isPacked, isRossLayout, LayoutError, ROSS_LAYOUTS, type RossLayout } from './layout.ts';
export {
  type LpMapping,
  lpMappingText,
  type ReadmeGroup,
  type ReadmeInfo,
  type ReadmePayload,
  readmeText,
} from './readme.ts';
export { encodedBytes, encodeRows, rowWords } from './rows.ts';
