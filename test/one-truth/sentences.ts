/** Numbers in the sentences of findings, whoever prints them. */
import { printed, type Seen } from './seen.ts';

/** @param outlet where `text`, one or more sentences, was read */
export function sentences(outlet: string, text: string): Seen[] {
  const found: Seen[] = [];
  const flat = text.replace(/\s+/g, ' ');
  const efficiency =
    /([\d,]+) events were handled and (?:less than )?([\d.]+ %) of them rolled back(?:: efficiency (−?[\d.]+ %)|, more than were kept)/.exec(
      flat,
    );
  if (efficiency !== null) {
    const [, handled, share, kept] = efficiency;
    found.push(printed(outlet, 'events handled', '', handled));
    if (!efficiency[0].includes('less than')) {
      found.push(printed(outlet, 'rolled back %', '', share));
    }
    if (kept !== undefined) found.push(printed(outlet, 'efficiency %', '', kept));
  }
  const secondary = /([\d.]+ %) of ([\d,]+) rollbacks are secondary/.exec(flat);
  if (secondary !== null) {
    found.push(printed(outlet, 'secondary rollbacks %', '', secondary[1]));
    found.push(printed(outlet, 'rollbacks', '', secondary[2]));
  }
  return found;
}
