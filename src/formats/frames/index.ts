/** Stream frames: columns of samples as bytes, for `extra.frames` of a recording and for live streams. */
export { FrameDecoder } from './decode.ts';
export { FrameEncoder } from './encode.ts';
export { FrameError } from './layout.ts';
export { FrameTable } from './table.ts';
