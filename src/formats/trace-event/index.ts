/** Chrome trace events: see docs/export.md. */

export { blockWriter } from './block-writer.ts';
export { blocksOf, type EventBlock } from './blocks.ts';
export { type DrawnEvents, drawn, joined } from './drawn-events.ts';
export {
  type EventColumns,
  type EventPlaces,
  sharedDoubles,
  sharedWords,
} from './event-columns.ts';
export { type EventLinks, type LinkCounts, link, noLinks } from './event-links.ts';
export { mergeInto, type TraceStream } from './merge.ts';
export { type ArgValue, type TraceThread, TraceWriter } from './writer.ts';
