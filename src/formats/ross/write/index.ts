/** Writing ROSS's instrumentation files: rows and events to bytes, and the texts beside them. */
export {
  EVENT_BYTES,
  EVENT_WORDS,
  event2017Bytes,
  writeEvent24,
  writeEvent24At,
  writeEvent2017,
} from './events.ts';
export { LayoutError, ROSS_LAYOUTS, type RossLayout } from './layout.ts';
export { lpMappingText, type ReadmeGroup, type ReadmeInfo, readmeText } from './readme.ts';
export { encodedBytes, encodeRows, rowWords } from './rows.ts';
