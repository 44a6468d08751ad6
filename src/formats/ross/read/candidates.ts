/** Which layouts a file can have, as far as its name, the text beside it, and the user tell. */
import { isPacked } from '../write/layout.ts';
import type { RossFileLayout } from './layouts.ts';
import type { OldEra, ReadmeFacts } from './readme.ts';
import { sizesOf, type Told } from './told.ts';
import { eventLayout } from './walk-events.ts';
import { framedLayout } from './walk-framed.ts';
import { type ModelSizes, type OldEventForm, oldEventLayout, oldModelLayout } from './walk-old.ts';
import { packedLayout } from './walk-packed.ts';

export interface Candidate {
  readonly layout: RossFileLayout;
  /** What was tried, for the text after “because”. */
  readonly as: string;
  /** What would decide for it, as a user writes it: the layout's name. */
  readonly name: string;
  /** Whether name and text favour it if the content leaves it open. */
  readonly preferred: boolean;
  /**
   * Plausible records that are needed to accept a layout that neither an option nor another file names.
   */
  readonly least: number;
}

/** A layout whose records are followed by any number of a model's bytes. */
export interface SizedForm {
  readonly of: (sizes: ModelSizes) => RossFileLayout;
  readonly name: string;
  readonly preferred: boolean;
}

const order = (little: boolean) => (little ? '' : ', big-endian');

function framed(told: Told, little: boolean): Candidate[] {
  const { suffix, layout: named } = told;
  if (named !== null && isPacked(named)) return [];
  const name = named ?? 'ross-7';
  const all: Candidate[] = [];
  // Without a name, or with one that may be wrong: both.
  if (named === null || suffix !== 'evtrace') {
    const layout = framedLayout(little);
    const preferred = suffix !== null && suffix !== 'evtrace';
    all.push({ layout, as: `samples in frames${order(little)}`, name, preferred, least: 1 });
  }
  if (named === null || suffix === null || suffix === 'evtrace') {
    const layout = eventLayout(little);
    const preferred = suffix === 'evtrace';
    all.push({ layout, as: `events of 24 bytes${order(little)}`, name, preferred, least: 2 });
  }
  return all;
}

/** Whether GVT samples have a real time; null if nothing beside the file tells. */
function hasRealTime({ layout, facts }: Told): boolean | null {
  if (layout !== null) return layout === 'ross-2017';
  return facts?.era == null ? null : facts.era !== '2016-12';
}

function packed(told: Told, little: boolean): Candidate[] {
  const { suffix, facts, layout: named } = told;
  const detailed = facts !== null && facts.granularity > 0;
  const beside = facts === null ? '' : `, ${facts.pes} PEs as its README.txt says`;
  const all: Candidate[] = [];
  const add = (mode: 'gvt' | 'rt', realTime: boolean, name: string, preferred: boolean) => {
    const layout = packedLayout({ mode, realTime, detailed }, facts, little);
    const what = mode === 'gvt' ? 'GVT' : 'real-time';
    const as = `packed ${what} samples of ${layout.least} bytes${order(little)}${beside}`;
    all.push({ layout, as, name, preferred: preferred && little, least: 4 });
  };
  if (suffix === null || suffix === 'gvt') {
    const real = hasRealTime(told);
    if (named === null || real === true) add('gvt', true, 'ross-2017', real === true);
    if (named === null || real === false) add('gvt', false, 'ross-2017-04', real === false);
  }
  if (facts !== null && (suffix === null || suffix === 'rt')) add('rt', true, 'ross-2017', true);
  return all;
}

/** Layouts without bytes of a model, or that tell their number. */
export function fixedCandidates(told: Told, little: boolean): Candidate[] {
  const { facts, layout, suffix } = told;
  if (facts?.little != null && layout !== null && little !== facts.little) return [];
  const { model } = told;
  const old = layout !== null ? isPacked(layout) : facts !== null;
  // ROSS no longer wrote a README when it began to write frames.
  const modern = old && suffix !== null && suffix !== 'analysis-lps' ? [] : framed(told, little);
  if (layout !== null && !isPacked(layout)) return modern;
  const sized = model?.exact === true ? sizedForms(told, little) : [];
  const known = sized.map(({ of, name, preferred }): Candidate => {
    const sizes = model === null ? 0 : sizesOf(model);
    const made = of(sizes);
    return { layout: made, as: `packed records of ${told.modelBy}`, name, preferred, least: 1 };
  });
  return [...modern, ...packed(told, little), ...known];
}

const form = (send: boolean, real: boolean, duration: boolean): OldEventForm => ({
  send,
  real,
  duration,
});

/** Forms of events in different versions of ROSS, with a duration or without, the likeliest first. */
function formsOf(era: OldEra | null, duration: boolean): OldEventForm[] {
  const plain = form(true, true, duration);
  const unsent = form(false, true, duration);
  const cut = form(true, false, false);
  if (era === '2017-07') return [plain];
  if (era === '2016-12') return [plain, unsent];
  // In June 2017 records without a duration were cut by mistake.
  if (era === '2017-06') return duration ? [plain] : [cut, plain];
  return duration ? [plain, unsent] : [plain, cut, unsent];
}

function eventForms({ layout, facts }: Told): OldEventForm[] {
  const trace = facts?.eventTrace ?? null;
  const known = trace !== null && trace !== 0;
  const durations = known ? [trace === 1] : [true, false];
  const era = layout === null ? (facts?.era ?? null) : '2017-07';
  const forms = durations.flatMap((duration) => formsOf(era, duration));
  // To decide between two that explain as much: events have a send time from April 2017 on.
  return forms.sort((a, b) => Number(b.send) - Number(a.send));
}

const lpsOf = (facts: ReadmeFacts | null) => facts?.lps.reduce((a, b) => a + b, 0) ?? 2 ** 32;

/** Layouts of events and models' samples of 2017, the likeliest first: a model's bytes follow each record. */
export function sizedForms(told: Told, little: boolean): SizedForm[] {
  const { suffix, facts, layout } = told;
  if (layout !== null && !isPacked(layout)) return [];
  if (facts?.little != null && layout !== null && little !== facts.little) return [];
  const name = layout ?? 'ross-2017';
  const preferred = facts !== null && little;
  const lps = lpsOf(facts);
  const all: SizedForm[] = [];
  if (suffix === null || suffix === 'evtrace') {
    for (const one of eventForms(told)) {
      all.push({ of: (sizes) => oldEventLayout(one, sizes, lps, little), name, preferred });
    }
  }
  if (suffix === null || suffix === 'model') {
    all.push({ of: (sizes) => oldModelLayout(sizes, lps, little), name, preferred });
  }
  return all;
}
