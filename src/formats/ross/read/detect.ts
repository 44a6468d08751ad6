/**
 * Which era's layout a file has: each is tried on the file's beginning, and the one that makes sense of most of it
 * wins. The name (`<prefix>-gvt.bin`, …) and the text beside it only decide what the content leaves open.
 */
import { basename } from 'node:path';
import type { Detection, FileSource } from '../../format.ts';
import { textBeside } from '../../source.ts';
import { BAD, Block, Chunk, EVENT, LP, PE, SHORT, WIDE_LP } from './chunk.ts';
import type { RossFileLayout } from './layouts.ts';
import { type ReadmeFacts, readReadme } from './readme.ts';
import { eventLayout } from './walk-events.ts';
import { framedLayout } from './walk-framed.ts';
import { type OldEventForm, oldEventLayout, oldModelLayout } from './walk-old.ts';
import { packedLayout } from './walk-packed.ts';

/** Bytes of a file's beginning that are looked at. */
export const HEAD_BYTES = 1 << 18;
const MOST_UNSAID_PAYLOAD = 4096;
const BLOCK_RECORDS = 64;
/** Records of which half must look like ones for more to be looked at. */
const SENSELESS = 32;
/** Share of a file's beginning from which on stranger layouts are not tried. */
const ENOUGH = 0.5;

export type Suffix = 'gvt' | 'rt' | 'evtrace' | 'model' | 'analysis-lps';

export interface RossDetection extends Detection {
  readonly layout: RossFileLayout;
  readonly facts: ReadmeFacts | null;
  /** What made the samples, where layout or name tell. */
  readonly mode: 'gvt' | 'rt' | 'vt' | null;
}

interface Candidate {
  readonly layout: RossFileLayout;
  /** What was tried, for “because”. */
  readonly as: string;
  /** Whether a file's name and the text beside it speak for it. */
  readonly fitsName: boolean;
  /** Records that must make sense before it is believed without its name. */
  readonly least: number;
}

interface Fit {
  /** 0 to 1. */
  readonly share: number;
  readonly records: number;
  readonly lps: number;
  readonly wideLps: number;
}

const NO_FIT: Fit = { share: 0, records: 0, lps: 0, wideLps: 0 };

const NAME = /^(.*)-(gvt|rt|evtrace|model|analysis-lps)\.bin$/;

function nameOf(path: string): { prefix: string; suffix: Suffix } | null {
  const match = NAME.exec(basename(path));
  return match === null ? null : { prefix: match[1], suffix: match[2] as Suffix };
}

/** A file's beginning in either byte order, and a block to try layouts with: made once for all of them. */
class Head {
  readonly bytes: Uint8Array;
  readonly #chunks: readonly Chunk[];
  #block: Block;
  #one: Block | null = null;

  constructor(bytes: Uint8Array, fileSize: number) {
    this.bytes = bytes;
    this.#chunks = [true, false].map((little) => {
      const chunk = new Chunk(bytes.length, little);
      chunk.bytes.set(bytes);
      chunk.length = bytes.length;
      chunk.fileSize = fileSize;
      return chunk;
    });
    this.#block = new Block(this.#chunks[0], BLOCK_RECORDS);
  }

  blockFor({ little, mostEntries }: RossFileLayout): Block {
    const chunk = this.#chunks[little ? 0 : 1];
    const capacity = Math.max(BLOCK_RECORDS, 2 * mostEntries);
    if (this.#block.chunk !== chunk || this.#block.capacity < capacity) {
      this.#block = new Block(chunk, capacity);
    }
    return this.#block;
  }

  /**
   * Whether the first records of a layout without the model's bytes can be such with so many bytes behind each: asked
   * of thousands of sizes, before a layout is made for one.
   */
  promises(layout: RossFileLayout, payload: number): boolean {
    const { length } = this.bytes;
    const stride = layout.least + payload;
    if (stride > length) return false;
    let records = 0;
    let meaning = 0;
    for (let at = 0; records < SENSELESS && at + layout.least <= length; at += stride) {
      const block = this.recordAt(layout, at);
      if (block.length === 0) return records > 1 && 2 * meaning > records;
      meaning += meaningIn(block, layout);
      records++;
    }
    return 2 * meaning > records;
  }

  /** The record at byte `at`, if one of this layout can be there. */
  recordAt(layout: RossFileLayout, at: number): Block {
    const chunk = this.#chunks[layout.little ? 0 : 1];
    const block = this.#one?.chunk === chunk ? this.#one : new Block(chunk, 1);
    this.#one = block;
    block.clear();
    layout.walk(block, at);
    return block;
  }
}

/** How much of a file's beginning a layout makes sense of. */
function fitOf(layout: RossFileLayout, head: Head): Fit {
  const block = head.blockFor(layout);
  const { length } = head.bytes;
  layout.reset();
  let at = 0;
  let records = 0;
  let lps = 0;
  let wideLps = 0;
  let meaning = 0;
  do {
    block.clear();
    at = layout.walk(block, at);
    records += layout.mostEntries > 1 ? block.of[PE].count : block.length;
    lps += block.of[LP].count;
    wideLps += block.of[WIDE_LP].count;
    meaning += meaningIn(block, layout);
    // Zeros are taken for records, one after the other, by layouts without end.
    if (records >= SENSELESS && 2 * meaning <= records) return NO_FIT;
  } while (block.stop !== BAD && block.stop !== SHORT);
  layout.reset();
  const whole = block.stop === SHORT && (at === length || length < block.chunk.fileSize);
  const share = length === 0 ? 0 : whole ? 1 : at / length;
  return { share: 2 * meaning > records ? share : 0, records, lps, wideLps };
}

/** Records that look like ones. */
function meaningIn(block: Block, { looksRight, mostEntries }: RossFileLayout): number {
  const { chunk } = block;
  const { count, record, part } = block.of[mostEntries > 1 || looksRight ? PE : EVENT];
  if (looksRight) {
    let right = 0;
    for (let k = 0; k < count; k++) if (looksRight(chunk, record[k])) right++;
    return right;
  }
  let right = block.length - count;
  for (let k = 0; k < count; k++) {
    const { view, little } = chunk;
    // Small integers taken for floats are denormal numbers.
    const receive = view.getFloat32(part[k] + 12, little);
    if (receive > 1e-30 || view.getFloat64(part[k] + 16, little) > 1e-30) right++;
  }
  return right;
}

const OLD_EVENTS: readonly OldEventForm[] = [
  { send: true, real: true, duration: true },
  { send: true, real: true, duration: false },
  { send: true, real: false, duration: false },
  { send: false, real: true, duration: true },
  { send: false, real: true, duration: false },
];

function oldEventForms(trace: number | null): readonly OldEventForm[] {
  if (trace === null || trace === 0) return OLD_EVENTS;
  return OLD_EVENTS.filter((form) => form.duration === (trace === 1));
}

function* packedCandidates(
  suffix: Suffix | null,
  facts: ReadmeFacts | null,
  little: boolean,
): Generator<Candidate> {
  if (facts !== null && facts.layout !== null && facts.layout !== 'ross-2017') return;
  const detailed = facts !== null && facts.granularity > 0;
  const common = { fitsName: suffix !== null && facts !== null, least: 4 };
  const told = facts === null ? '' : `, ${facts.pes} PEs as its README.txt says`;
  if (suffix === null || suffix === 'gvt') {
    for (const realTime of [true, false]) {
      const layout = packedLayout({ mode: 'gvt', realTime, detailed }, facts, little);
      yield { ...common, layout, as: `packed GVT samples of ${layout.least} bytes${told}` };
    }
  }
  if (facts !== null && (suffix === null || suffix === 'rt')) {
    const layout = packedLayout({ mode: 'rt', realTime: true, detailed }, facts, little);
    yield { ...common, layout, as: `packed real-time samples of ${layout.least} bytes${told}` };
  }
}

/** A layout for any number of bytes of the model behind each record. */
type OfPayload = (payload: number) => RossFileLayout;

function oldLayouts(
  suffix: Suffix | null,
  facts: ReadmeFacts | null,
  little: boolean,
): OfPayload[] {
  const layouts: OfPayload[] = [];
  if (suffix === null || suffix === 'evtrace') {
    for (const form of oldEventForms(facts?.eventTrace ?? null)) {
      layouts.push((payload) => oldEventLayout(form, payload, little));
    }
  }
  if (suffix === null || suffix === 'model') {
    const lps = facts?.lps.reduce((a, b) => a + b, 0) ?? 2 ** 32;
    layouts.push((payload) => oldModelLayout(payload, lps, little));
  }
  return layouts;
}

/** Old events and models' samples: sizes of the model's bytes are tried from none up. */
function* oldCandidates(
  suffix: Suffix | null,
  facts: ReadmeFacts | null,
  little: boolean,
  head: Head,
): Generator<Candidate> {
  if (facts !== null && facts.layout !== null && facts.layout !== 'ross-2017') return;
  const fitsName = suffix !== null && facts !== null;
  const layouts = oldLayouts(suffix, facts, little)
    .map((of) => ({ of, bare: of(0) }))
    .filter(({ bare }) => head.recordAt(bare, 0).length > 0);
  if (layouts.length === 0) return;
  for (let payload = 0; payload <= MOST_UNSAID_PAYLOAD; payload++) {
    for (const { of, bare } of layouts) {
      if (!head.promises(bare, payload)) continue;
      const layout = of(payload);
      yield { layout, as: `packed records of ${layout.least} bytes`, fitsName, least: 4 };
    }
  }
}

function* candidates(
  suffix: Suffix | null,
  facts: ReadmeFacts | null,
  little: boolean,
): Generator<Candidate> {
  const order = little ? '' : ', big-endian';
  yield {
    layout: framedLayout(little),
    as: `samples in frames${order}`,
    fitsName: suffix !== null && suffix !== 'evtrace',
    least: 1,
  };
  yield {
    layout: eventLayout(little),
    as: `events of 24 bytes${order}`,
    fitsName: suffix === 'evtrace',
    least: 2,
  };
  yield* packedCandidates(suffix, facts, little);
}

/** Which layout a name speaks for when the content says nothing. */
function byName(suffix: Suffix, facts: ReadmeFacts | null): RossFileLayout {
  const old = facts !== null && facts.layout === null;
  if (suffix === 'evtrace') {
    if (!old) return eventLayout(true);
    const [form] = oldEventForms(facts.eventTrace);
    return oldEventLayout(form, 0, true);
  }
  if (!old || suffix === 'analysis-lps') return framedLayout(true);
  if (suffix === 'model') return oldModelLayout(0, 2 ** 32, true);
  const form = { mode: suffix, realTime: true, detailed: facts.granularity > 0 } as const;
  return packedLayout(form, facts, true);
}

const MODES = { gvt: 'gvt', rt: 'rt', 'analysis-lps': 'vt' } as const;

function eraOf(layout: RossFileLayout, { lps, wideLps }: Fit): string {
  if (lps > 0 && wideLps === 0) return layout.era.replace('v7.0 or later', 'v7.0 to v8.0');
  if (wideLps > 0 && lps === 0) return layout.era.replace('v7.0 or later', 'v8.1 or later');
  return layout.era;
}

/** Without a name that says so, a few numbers that happen to make sense are no proof. */
function standsAlone({ least }: Candidate, { records, share }: Fit): boolean {
  return records >= least && (share === 1 || records >= 16 * least);
}

/**
 * How well a layout explains a file. Some number of the model's bytes makes one record of any file, also of one that is
 * cut in a record: such a fit is worth less than one that sees several and leaves a rest.
 */
const worth = ({ least }: Candidate, { records, share }: Fit): number =>
  share * Math.min(1, records / least);

/** Packed records are weak evidence: a few of them may be those of a cut file in the other byte order. */
const isDoubtful = ({ layout, least }: Candidate, { records }: Fit): boolean =>
  !layout.little && records < least;

/** A text, or zeros only: ROSS's files have zeros among their first bytes, and others. */
function saysNothing(head: Uint8Array): boolean {
  const start = head.subarray(0, 1024);
  const isText = start.every((byte) => byte >= 32 || (byte >= 9 && byte <= 13));
  return isText || head.every((byte) => byte === 0);
}

interface Best {
  readonly candidate: Candidate;
  readonly fit: Fit;
}

function bestOf(head: Head, suffix: Suffix | null, facts: ReadmeFacts | null): Best | null {
  let best: Best | null = null;
  const consider = (all: Iterable<Candidate>): boolean => {
    for (const candidate of all) {
      const fit = fitOf(candidate.layout, head);
      if (fit.records === 0) continue;
      if (isDoubtful(candidate, fit)) continue;
      if (!candidate.fitsName && !standsAlone(candidate, fit)) continue;
      if (best === null || worth(candidate, fit) > worth(best.candidate, best.fit)) {
        best = { candidate, fit };
      }
      if (worth(candidate, fit) === 1) return true;
    }
    return best?.candidate.fitsName === true && best.fit.share >= ENOUGH;
  };
  const orders = [true, false];
  for (const little of orders) if (consider(candidates(suffix, facts, little))) return best;
  for (const little of orders) {
    if (consider(oldCandidates(suffix, facts, little, head))) return best;
  }
  return best;
}

/** Says what layout a file has, or null where it is none of ROSS's. */
export function detectRoss(head: Uint8Array, source: FileSource): RossDetection | null {
  const name = nameOf(source.path);
  const suffix = name?.suffix ?? null;
  const text = name === null ? null : textBeside(source, `${name.prefix}-README.txt`);
  const facts = text === null ? null : readReadme(text);
  const modeByName = suffix === null || !(suffix in MODES) ? null : MODES[suffix as 'gvt'];
  const named = (because: string, confidence: number): RossDetection | null => {
    if (suffix === null) return null;
    const layout = byName(suffix, facts);
    const mode = layout.mode ?? modeByName;
    return { layout, facts, mode, confidence, because, era: layout.era };
  };
  if (source.size === 0) {
    return named('its name says so, and ROSS leaves empty files where nothing was sampled', 0.9);
  }
  const best = saysNothing(head) ? null : bestOf(new Head(head, source.size), suffix, facts);
  if (best === null || best.fit.share === 0) {
    return named('its name says so; its beginning makes no sense', 0.3);
  }
  const { layout, as, fitsName } = best.candidate;
  const { share, records } = best.fit;
  const first = `its first ${records === 1 ? 'record makes' : `${records} records make`} sense as ${as}`;
  return {
    layout,
    facts,
    mode: layout.mode ?? modeByName,
    era: eraOf(layout, best.fit),
    because: first,
    confidence: share === 1 ? (records > 1 || fitsName ? 0.98 : 0.8) : 0.4 + 0.4 * share,
  };
}
