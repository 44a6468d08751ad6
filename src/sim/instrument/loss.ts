/** What is lost where a file cannot be written any more: so that it can be stated, and the rest kept. */
import { encodedBytes, rowWords } from '../../formats/ross/write/index.ts';
import {
  ROW_KP,
  ROW_LP,
  ROW_MODEL,
  ROW_ROLLBACK,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { InstrumentConfig, Stream } from './config.ts';

/** Bytes before what a model adds, or of the whole record: a traced event's of 2017, with a duration or without. */
const EVENT = 24;
const EVENT_2017 = 40;
const EVENT_2017_FULL = 48;
/** Frame of a sample; frame and metadata, or header, of a model's. */
const FRAME = 24;
const MODEL_HEAD = 48;

/** Events of 2017, whose records do not tell their length. */
const isOldTrace = (config: InstrumentConfig, stream: Stream): boolean =>
  stream === 'evtrace' && config.layout === 'ross-2017';

const oldEvent = ({ trace }: InstrumentConfig) => (trace === 'all' ? EVENT_2017_FULL : EVENT_2017);

/** Words of the record at a word, where records tell it. */
function sizeIn(
  config: InstrumentConfig,
  stream: Stream,
  words: Int32Array,
): (at: number) => number {
  if (stream === 'evtrace') return (at) => (EVENT + words[at + 5]) / 4;
  return config.direct ? (at) => fileWords(stream, words, at) : (at) => neutralWords(words, at);
}

/**
 * Records in `words`, whole records of `stream`. Of events of 2017, whose records do not tell their length, as many
 * as there would be if models added nothing.
 */
export function recordsIn(config: InstrumentConfig, stream: Stream, words: Int32Array): number {
  if (isOldTrace(config, stream)) return Math.floor((words.length * 4) / oldEvent(config));
  const sizeAt = sizeIn(config, stream, words);
  let n = 0;
  for (let at = 0; at < words.length; at += sizeAt(at)) n++;
  return n;
}

/** What is whole of records of which only the first bytes could be written. */
export interface Kept {
  /** Words of the records, and bytes that they have in the file. */
  readonly words: number;
  readonly bytes: number;
}

/**
 * The records of `words`, whole records of `stream`, that are whole in the first `written` bytes of the file's form.
 * @param bare whether models add nothing to events
 */
export function keptOf(
  config: InstrumentConfig,
  stream: Stream,
  words: Int32Array,
  written: number,
  bare: boolean,
): Kept {
  if (isOldTrace(config, stream)) {
    const each = oldEvent(config);
    const bytes = bare ? written - (written % each) : 0;
    return { words: bytes / 4, bytes };
  }
  const sizeAt = sizeIn(config, stream, words);
  const isEncoded = stream !== 'evtrace' && !config.direct;
  let kept = { words: 0, bytes: 0 };
  while (kept.words < words.length) {
    let end = kept.words + sizeAt(kept.words);
    if (isEncoded && config.layout === 'ross-2017') {
      // A PE's KPs and LPs are part of its record.
      while (end < words.length && isPart(words[end])) end += sizeAt(end);
    }
    const bytes = isEncoded
      ? encodedBytes(config.layout, words, kept.words, end)
      : (end - kept.words) * 4;
    if (kept.bytes + bytes > written) break;
    kept = { words: end, bytes: kept.bytes + bytes };
  }
  return kept;
}

const isPart = (kind: number) => kind === ROW_KP || kind === ROW_LP;

const neutralWords = (words: Int32Array, at: number): number =>
  words[at] === ROW_ROLLBACK ? ROW_WORDS[ROW_ROLLBACK] : rowWords(words, at);

/** Rows as the files have them. A model's of virtual time begin with an LP's id of 64 bits: the upper half is 0. */
function fileWords(stream: Stream, words: Int32Array, at: number): number {
  if (stream === 'vt' && words[at + 1] === 0) return (MODEL_HEAD + words[at + 10]) / 4;
  if (words[at] === ROW_MODEL) return (MODEL_HEAD + words[at + 11]) / 4;
  return (FRAME + words[at + 1]) / 4;
}
