/**
 * Finds the layout of a file: its name, the text beside it, the user's words, its size, and all records of its
 * beginning decide together. If they do not decide, the file is in doubt, and is not read as something else.
 */
import type { Detection, FileSource, ScanOptions } from '../../format.ts';
import { PayloadLayoutError } from '../../payload.ts';
import { isPacked } from '../write/layout.ts';
import { type Candidate, fixedCandidates, sizedForms } from './candidates.ts';
import { FileHead, type LayoutEvidence, NO_EVIDENCE } from './evidence.ts';
import type { RossFileLayout } from './layouts.ts';
import { hidesRecords, isCertain, type SizeSearch, searchSizes } from './model-sizes.ts';
import { type Told, toldOf } from './told.ts';

/** Bytes of a file's beginning that are examined. */
export const HEAD_BYTES = 1 << 18;

/** Why nothing decides which layout a file has, and what would. */
interface Doubt {
  readonly what: string;
  readonly mend: string;
}

export interface RossDetection extends Detection {
  /** In doubt, one of those that are possible. */
  readonly layout: RossFileLayout;
  readonly told: Told;
  /** What made the samples, if layout or name tell. */
  readonly mode: 'gvt' | 'rt' | 'vt' | null;
  readonly doubt: Doubt | null;
}

interface Fit {
  readonly candidate: Candidate;
  readonly evidence: LayoutEvidence;
}

const MODES = { gvt: 'gvt', rt: 'rt', 'analysis-lps': 'vt' } as const;

function modeByName({ suffix }: Told): 'gvt' | 'rt' | 'vt' | null {
  return suffix === null || !(suffix in MODES) ? null : MODES[suffix as 'gvt'];
}

function eraOf(layout: RossFileLayout, { lps, wideLps }: LayoutEvidence): string {
  if (lps > 0 && wideLps === 0) return layout.era.replace('v7.0 or later', 'v7.0 to v8.0');
  if (wideLps > 0 && lps === 0) return layout.era.replace('v7.0 or later', 'v8.1 or later');
  return layout.era;
}

/** A text, or zeros only: ROSS's files have zeros among their first bytes, and others. */
function saysNothing(head: Uint8Array): boolean {
  const start = head.subarray(0, 1024);
  const isText = start.every((byte) => byte >= 32 || (byte >= 9 && byte <= 13));
  return isText || head.every((byte) => byte === 0);
}

const ORDERS = [true, false];

const fitsOf = (head: FileHead, candidates: readonly Candidate[]): Fit[] =>
  candidates.map((candidate) => ({ candidate, evidence: head.evidence(candidate.layout) }));

/** Those that explain most first; among equals, those that are preferred. */
const byWorth = (a: Fit, b: Fit): number =>
  b.evidence.explained - a.evidence.explained ||
  Number(b.candidate.preferred) - Number(a.candidate.preferred);

/** Whether a layout explains the file, and the next best does not come near it. */
function isClear({ evidence: { good, bad } }: Fit, next: Fit | undefined): boolean {
  const other = next?.evidence.good ?? 0;
  return good >= other + 2 || (bad === 0 && good >= 2 && good > other);
}

/**
 * Among the layouts that the text beside a file prefers, one that its first record has, or that no other layout beats.
 * After damage any layout may make sense of a few records.
 */
function preferredOf(head: FileHead, fits: readonly Fit[]): Fit | undefined {
  const most = fits.reduce((good, { evidence }) => Math.max(good, evidence.good), 0);
  const preferred = fits.filter(({ candidate }) => candidate.preferred);
  return (
    preferred.find(({ candidate }) => head.hasRecord(candidate.layout, 0)) ??
    preferred.find(({ evidence }) => evidence.good >= most)
  );
}

/** Without an option or another file, a few plausible numbers are no proof. */
function standsAlone({ candidate, evidence }: Fit): boolean {
  const { good, bad, whole } = evidence;
  return good >= candidate.least && ((bad === 0 && whole) || good >= 16 * candidate.least);
}

const README = (told: Told, line: string) =>
  told.prefix === null ? '' : `, or a line ${line} before END in ${told.prefix}-README.txt`;

function doubtOfLayouts(told: Told, candidates: readonly Candidate[]): Doubt {
  const names = [...new Set(candidates.map(({ name }) => name))];
  const all = candidates
    .filter(({ layout }) => layout.little)
    .map(({ name, layout }) => `${name} (${layout.least} bytes a record)`);
  return {
    what: `it can be ${all.join(' or ')}, and neither its records nor the text beside it decide`,
    mend: `read --layout=${names.join(' or --layout=')} decides${README(told, `LAYOUT=${names[0]}`)}`,
  };
}

const SIZES_MEND =
  'read --layout=FILE decides: {"bytes": 4}, or by type of LP {"lps": "a*4,b*16", "types": {"a": 24, "b": 8}}';

function doubtOfSizes(told: Told, { best, rival }: SizeSearch): Doubt {
  const what = told.suffix === 'evtrace' ? 'event' : 'sample';
  const which =
    best === null
      ? 'no number makes sense of it'
      : rival < 2 && best.evidence.good < 2
        ? `it has one whole record at most, and any number makes sense of that`
        : `${best.size} make sense of ${best.evidence.good} records, another number of ${rival}`;
  return {
    what: `nothing says how many bytes of the model follow each ${what}; ${which}`,
    mend: SIZES_MEND,
  };
}

const DIFFERENT: Doubt = {
  what: 'its LPs add different numbers of bytes to their records, and nothing says which',
  mend: SIZES_MEND,
};

interface Decision {
  readonly candidate: Candidate;
  readonly evidence: LayoutEvidence;
  readonly doubt: Doubt | null;
}

const asCandidate = (told: Told, { best }: SizeSearch): Fit | null =>
  best && {
    candidate: {
      layout: best.layout,
      as: `packed records of ${best.layout.least} bytes`,
      name: best.form.name,
      preferred: told.facts !== null && best.layout.little,
      least: 4,
    },
    evidence: best.evidence,
  };

/** A number of bytes found for a file whose name and README leave only that open. */
function decideSizes(told: Told, head: FileHead): Decision | null {
  let search = searchSizes(head, sizedForms(told, true));
  if (!isCertain(search, head.fileSize)) {
    const big = searchSizes(head, sizedForms(told, false));
    if ((big.best?.evidence.good ?? 0) > (search.best?.evidence.good ?? 0)) search = big;
  }
  const found = asCandidate(told, search);
  if (found !== null && isCertain(search, head.fileSize)) {
    const { best } = search;
    return { ...found, doubt: best !== null && hidesRecords(head, best) ? DIFFERENT : null };
  }
  // Fields that a user or a recording names have at least this many bytes.
  const [form] = sizedForms(told, told.facts?.little ?? true);
  if (form === undefined) return null;
  const size = told.model?.uniform ?? null;
  const doubt = size === null ? doubtOfSizes(told, search) : null;
  const layout = form.of(size ?? 0);
  const as = `packed records of ${layout.least} bytes, as ${told.modelBy} says`;
  const candidate = { layout, as, name: form.name, preferred: true, least: 1 };
  return { candidate, evidence: found?.evidence ?? NO_EVIDENCE, doubt };
}

/** A file whose kind is known from name and text, or from the user. */
function decideTold(told: Told, head: FileHead): Decision | null {
  const { suffix, model } = told;
  const sized = suffix === 'evtrace' || suffix === 'model';
  const old = told.layout === null || isPacked(told.layout);
  if (old && sized && model?.exact !== true) return decideSizes(told, head);
  const candidates = ORDERS.flatMap((little) => fixedCandidates(told, little));
  const fits = fitsOf(head, candidates).sort(byWorth);
  const [first, next] = fits;
  const best = preferredOf(head, fits) ?? first;
  if (best === undefined) return null;
  const one = new Set(candidates.map(({ name }) => name)).size === 1;
  const clear = one || best.candidate.preferred || isClear(best, next);
  // What is told is not replaced by something else that happens to make sense.
  return { ...best, doubt: clear ? null : doubtOfLayouts(told, candidates) };
}

/**
 * Whether a file begins with no record in one byte order, but with one in the other: then it has the other, whatever makes
 * sense after damage. Shifted by some bytes, records of one order look like those of the other.
 */
const beginsElse = (
  head: FileHead,
  { candidate: { layout } }: Fit,
  fits: readonly Fit[],
): boolean =>
  !head.hasRecord(layout, 0) &&
  fits.some(
    ({ candidate: { layout: other } }) =>
      other.era === layout.era && other.little !== layout.little && head.hasRecord(other, 0),
  );

/** Samples of several kinds, each with a frame that states its kind and size. */
const isFramed = ({ stride, each }: RossFileLayout): boolean => stride === 0 && each === null;

/** A file of which only the bytes are known, and perhaps the name. */
function decideAlone(told: Told, head: FileHead): Decision | null {
  const fits: Fit[] = [];
  for (const candidate of ORDERS.flatMap((little) => fixedCandidates(told, little))) {
    const fit = { candidate, evidence: head.evidence(candidate.layout) };
    const { good, bad, whole } = fit.evidence;
    const enough = candidate.preferred ? candidate.least : 4;
    // No other layout fits a whole file that has the size of each of its records.
    if (bad === 0 && whole && good >= enough && candidate.layout.stride === 0) {
      return { ...fit, doubt: null };
    }
    // Nothing else begins with a frame that has its kind and the matching size, whatever was damaged after it.
    if (isFramed(candidate.layout) && head.hasRecord(candidate.layout, 0)) {
      return { ...fit, doubt: null };
    }
    fits.push(fit);
  }
  const sized = ORDERS.flatMap((little) => {
    const forms = sizedForms(told, little).filter((form) => {
      const bare = form.of(0);
      return told.suffix !== null || head.hasRecord(bare, 0);
    });
    const search = forms.length === 0 ? null : searchSizes(head, forms);
    const found = search && isCertain(search, head.fileSize) ? asCandidate(told, search) : null;
    if (search?.best == null || found === null) return [];
    return [{ ...found, hides: hidesRecords(head, search.best) }];
  });
  const believed = [...fits, ...sized]
    .filter((fit) => (fit.candidate.preferred ? fit.evidence.good > 0 : standsAlone(fit)))
    .sort(byWorth);
  const [best, next] = believed;
  if (best === undefined || !isClear(best, next) || beginsElse(head, best, believed)) return null;
  return { ...best, doubt: 'hides' in best && best.hides === true ? DIFFERENT : null };
}

/** The layout that a name favours when the content tells nothing. */
function byName(told: Told): RossFileLayout | null {
  if (told.suffix === null) return null;
  const candidates = fixedCandidates(told, told.facts?.little ?? true);
  const [first] = [...candidates].sort((a, b) => Number(b.preferred) - Number(a.preferred));
  return first?.layout ?? sizedForms(told, true)[0]?.of(told.model?.uniform ?? 0) ?? null;
}

function toldQuietly(source: FileSource, options: ScanOptions | undefined): Told {
  try {
    return toldOf(source, options);
  } catch (error) {
    if (options !== undefined || !(error instanceof PayloadLayoutError)) throw error;
    return toldOf(source, { given: { layout: null, lps: null, types: [], exact: true } });
  }
}

/**
 * Finds the layout of a file; null if it is none of ROSS's.
 * @throws PayloadLayoutError if `options` are impossible
 */
export function detectRoss(
  bytes: Uint8Array,
  source: FileSource,
  options?: ScanOptions,
): RossDetection | null {
  const told = toldQuietly(source, options);
  const known = told.layout !== null || (told.facts !== null && told.suffix !== null);
  const named = (because: string, confidence: number): RossDetection | null => {
    const layout = byName(told);
    if (layout === null) return null;
    const mode = layout.mode ?? modeByName(told);
    return { layout, told, mode, doubt: null, confidence, because, era: layout.era };
  };
  if (source.size === 0) {
    return named('its name says so, and ROSS leaves empty files where nothing was sampled', 0.9);
  }
  const head = new FileHead(bytes, source.size);
  const found = known
    ? decideTold(told, head)
    : saysNothing(bytes)
      ? null
      : decideAlone(told, head);
  if (found === null) return named('its name says so; its beginning makes no sense', 0.3);
  const { candidate, evidence, doubt } = found;
  const { layout, as, preferred } = candidate;
  const { good, bad, whole } = evidence;
  const records = `${good} ${good === 1 ? 'record' : 'records'}`;
  const makes = `${records} of its beginning ${good === 1 ? 'makes' : 'make'} sense as ${as}`;
  const says = told.layout === null ? '' : `${told.layoutBy} says ${told.layout}; `;
  // Any bytes make some records: if other layouts have none, and no name favours it, the file may be anything.
  const likely = bad === 0 || preferred || isFramed(layout) ? 0.7 : 0.4;
  const sure = known ? 0.95 : whole && bad === 0 ? (good > 1 || preferred ? 0.98 : 0.8) : likely;
  return {
    layout,
    told,
    mode: layout.mode ?? modeByName(told),
    era: eraOf(layout, evidence),
    because: doubt === null ? `${says}${makes}` : doubt.what,
    confidence: sure,
    doubt,
  };
}
