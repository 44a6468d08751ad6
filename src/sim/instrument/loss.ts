/** How many records there are in bytes that could not be written: so that a loss can be stated. */
import { rowWords } from '../../formats/ross/write/index.ts';
import { ROW_MODEL, ROW_ROLLBACK, ROW_WORDS } from '../../model/schemas/ross-rows.ts';
import type { InstrumentConfig, Stream } from './config.ts';

/** Bytes before what a model adds, or of the whole record: a traced event's of 2017, with a duration or without. */
const EVENT = 24;
const EVENT_2017 = 40;
const EVENT_2017_FULL = 48;
/** Frame of a sample; frame and metadata, or header, of a model's. */
const FRAME = 24;
const MODEL_HEAD = 48;

/**
 * Records in `words`, whole records of `stream`. Of events of 2017, whose records do not tell their length, as many
 * as there would be if models added nothing.
 */
export function recordsIn(config: InstrumentConfig, stream: Stream, words: Int32Array): number {
  if (stream === 'evtrace' && config.layout === 'ross-2017') {
    const each = config.trace === 'all' ? EVENT_2017_FULL : EVENT_2017;
    return Math.floor((words.length * 4) / each);
  }
  const sizeAt =
    stream === 'evtrace'
      ? (at: number) => (EVENT + words[at + 5]) / 4
      : config.direct
        ? (at: number) => fileWords(stream, words, at)
        : (at: number) => neutralWords(words, at);
  let n = 0;
  for (let at = 0; at < words.length; at += sizeAt(at)) n++;
  return n;
}

const neutralWords = (words: Int32Array, at: number): number =>
  words[at] === ROW_ROLLBACK ? ROW_WORDS[ROW_ROLLBACK] : rowWords(words, at);

/** Rows as the files have them. A model's of virtual time begin with an LP's id of 64 bits: the upper half is 0. */
function fileWords(stream: Stream, words: Int32Array, at: number): number {
  if (stream === 'vt' && words[at + 1] === 0) return (MODEL_HEAD + words[at + 10]) / 4;
  if (words[at] === ROW_MODEL) return (MODEL_HEAD + words[at + 11]) / 4;
  return (FRAME + words[at + 1]) / 4;
}
