/** Stream frames: columns of samples as bytes, for `extra.frames` of a recording and for live streams. */
export { type DecoderOptions, FrameDecoder } from './decode.ts';
export { FrameEncoder } from './encode.ts';
export { FrameError } from './layout.ts';
export { type FrameScan, type FrameVisitor, scanFrames } from './scan.ts';
export { FrameTable } from './table.ts';
