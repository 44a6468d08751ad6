/** Chrome trace events: see docs/export.md. */
export { type EventColumns, type EventPlaces, EventStream } from './events.ts';
export { mergeInto, type TraceStream } from './merge.ts';
export { type ArgsOf, type ArgValue, type Lane, laneOf, TraceWriter } from './writer.ts';
