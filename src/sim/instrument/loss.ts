/** What is lost when a file can no longer be written, so that the loss can be stated and the rest kept. */
import {
  encodedBytes,
  event2017Bytes,
  eventRow2017Words,
  isPacked,
  rowWords,
} from '../../formats/ross/write/index.ts';
import {
  ROW_KP,
  ROW_LP,
  ROW_MODEL,
  ROW_ROLLBACK,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { InstrumentConfig, Stream } from './config.ts';

/** Bytes of a traced event before what a model adds. */
const EVENT_BYTES = 24;
/** Frame of an engine's sample; frame and metadata, or header, of a model's sample. */
const FRAME = 24;
const MODEL_HEAD = 48;

/** Events of 2017: if models add bytes, their rows differ from those in files. */
const isOldTrace = (config: InstrumentConfig, stream: Stream): boolean =>
  stream === 'evtrace' && isPacked(config.layout);

/** Bytes of an event of 2017 before the model's. */
export const oldEventHead = ({ trace }: InstrumentConfig) => event2017Bytes(trace === 'all');

/** Words of the record at a word. */
function sizeIn(
  config: InstrumentConfig,
  stream: Stream,
  words: Int32Array,
): (at: number) => number {
  if (isOldTrace(config, stream)) {
    const head = oldEventHead(config);
    return (at) => eventRow2017Words(head, words[at + 1]);
  }
  if (stream === 'evtrace') return (at) => (EVENT_BYTES + words[at + 5]) / 4;
  return config.direct ? (at) => fileWords(stream, words, at) : (at) => neutralWords(words, at);
}

/** Number of records in `words`, which are whole records of `stream`. */
export function recordsIn(config: InstrumentConfig, stream: Stream, words: Int32Array): number {
  const sizeAt = sizeIn(config, stream, words);
  let n = 0;
  for (let at = 0; at < words.length; at += sizeAt(at)) n++;
  return n;
}

/** The whole records among records of which only the first bytes could be written. */
export interface WholeRows {
  /** Words of the records, and the bytes that they take in the file. */
  readonly words: number;
  readonly bytes: number;
}

/** Of the records in `words`, all whole records of `stream`, those that are whole in the first `written` bytes of the file. */
export function keptOf(
  config: InstrumentConfig,
  stream: Stream,
  words: Int32Array,
  written: number,
): WholeRows {
  const { layout } = config;
  const sizeAt = sizeIn(config, stream, words);
  const old = isOldTrace(config, stream);
  const isEncoded = stream !== 'evtrace' && !config.direct;
  const head = oldEventHead(config);
  let kept = { words: 0, bytes: 0 };
  while (kept.words < words.length) {
    let end = kept.words + sizeAt(kept.words);
    if (isEncoded && isPacked(layout)) {
      // A PE's KPs and LPs are part of its record.
      while (end < words.length && isPart(words[end])) end += sizeAt(end);
    }
    const bytes = isEncoded
      ? encodedBytes(layout, words, kept.words, end)
      : old
        ? head + words[kept.words + 1]
        : (end - kept.words) * 4;
    if (kept.bytes + bytes > written) break;
    kept = { words: end, bytes: kept.bytes + bytes };
  }
  return kept;
}

const isPart = (kind: number) => kind === ROW_KP || kind === ROW_LP;

const neutralWords = (words: Int32Array, at: number): number =>
  words[at] === ROW_ROLLBACK ? ROW_WORDS[ROW_ROLLBACK] : rowWords(words, at);

/** Rows in the form of the files. A model's virtual-time rows begin with an LP's 64-bit id: the upper half is 0. */
function fileWords(stream: Stream, words: Int32Array, at: number): number {
  if (stream === 'vt' && words[at + 1] === 0) return (MODEL_HEAD + words[at + 10]) / 4;
  if (words[at] === ROW_MODEL) return (MODEL_HEAD + words[at + 11]) / 4;
  return (FRAME + words[at + 1]) / 4;
}
