/**
 * Finds how many bytes of the model follow each record of a file that does not tell it: the number with which most
 * records make sense, if no other comes near.
 */

import type { SizedForm } from './candidates.ts';
import { type FileHead, type LayoutEvidence, NO_EVIDENCE } from './evidence.ts';
import type { RossFileLayout } from './layouts.ts';

const MOST_BYTES = 4096;
/** Bytes looked at. */
const LOOK_BYTES = 1 << 16;
/** With more impossible places than this, and than records, it is something else. */
const HOPELESS = 2;
/** One in this many records may be impossible. */
const SOUND = 4;
/** Records whose model's bytes are searched for records; the first ones that decide by themselves, since there may be damage later. */
const SEARCHED = 16;
const DECIDING = 4;

interface SizedFit {
  readonly form: SizedForm;
  readonly layout: RossFileLayout;
  /** Bytes of the model after each record. */
  readonly size: number;
  readonly evidence: LayoutEvidence;
}

export interface SizeSearch {
  /** Null if no size is plausible. */
  readonly best: SizedFit | null;
  /** Records that make sense with the next best number of bytes. */
  readonly rival: number;
}

/** @param first whether a record is at byte 0: the same for all numbers of bytes */
function evidenceOf(
  head: FileHead,
  bare: RossFileLayout,
  stride: number,
  first: boolean,
): LayoutEvidence {
  const length = Math.min(head.bytes.length, LOOK_BYTES);
  let good = first ? 1 : 0;
  let bad = 1 - good;
  for (let at = stride; at + stride <= length; at += stride) {
    if (head.hasRecord(bare, at)) good++;
    else if (++bad > good + HOPELESS) return NO_EVIDENCE;
  }
  return { ...NO_EVIDENCE, good, bad, explained: good * bare.least, whole: true };
}

/** Tries every number of bytes with every form, from 0 up. */
export function searchSizes(head: FileHead, forms: readonly SizedForm[]): SizeSearch {
  const tried = forms.map((form) => {
    const bare = form.of(0);
    return { form, bare, first: head.hasRecord(bare, 0) };
  });
  const length = Math.min(head.bytes.length, LOOK_BYTES);
  let best: SizedFit | null = null;
  let rival = 0;
  for (let size = 0; size <= MOST_BYTES; size++) {
    for (const { form, bare, first } of tried) {
      const stride = bare.least + size;
      const most = Math.floor(length / stride);
      // No longer the best, nor near it.
      if (most === 0 || (best !== null && most < best.evidence.good - 1)) continue;
      const evidence = evidenceOf(head, bare, stride, first);
      // With half the right size every second record is plausible.
      if (evidence.good === 0 || evidence.good < 2 * evidence.bad) continue;
      const same = stride === best?.layout.stride;
      const isMore = evidence.good > (best?.evidence.good ?? 0);
      if (isMore || (same && evidence.explained > (best?.evidence.explained ?? 0))) {
        if (!same) rival = best?.evidence.good ?? 0;
        best = { form, layout: form.of(size), size, evidence };
      } else if (!same) rival = Math.max(rival, evidence.good);
    }
  }
  return { best, rival };
}

/** Whether there are records in what would be bytes of the model: then records have different sizes. */
export function hidesRecords(head: FileHead, { form, layout, size }: SizedFit): boolean {
  const bare = form.of(0);
  const last = size - bare.least;
  let records = 0;
  let hiding = 0;
  for (let at = 0; records < SEARCHED; at += layout.stride) {
    if (at + layout.stride > head.bytes.length) break;
    records++;
    for (let k = 0; k <= last; k++) {
      if (!head.hasRecord(bare, at + bare.least + k)) continue;
      hiding++;
      break;
    }
    if (records === DECIDING && 2 * hiding > records) return true;
  }
  return 2 * hiding > records;
}

/** Whether one number of bytes is certain in a file of this size. */
export function isCertain({ best, rival }: SizeSearch, fileSize: number): boolean {
  if (best === null) return false;
  const { good, bad } = best.evidence;
  if (good < 2 || good < SOUND * bad) return false;
  // Two or three records have equal distances by chance, too, with damage between them. In an undamaged file they fill it.
  if (good < DECIDING && fileSize % best.layout.stride !== 0) return false;
  return bad === 0 ? good > rival : good > rival + 1;
}
