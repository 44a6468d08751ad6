/** What was found in the recording that is shown: of a run that goes on, looked for again and again. */
import type { Finding, NotExamined } from '../../../src/model/finding.ts';
import type { Page } from '../page.svelte.ts';
import { Asked } from '../parts/asked.svelte.ts';

/** Milliseconds from the first samples to the first look, and to the second. */
const FIRST_MS = 5000;
const PERIOD_MS = 5000;
/** Findings read all that there is by then: so each pause is as long as all the time before, at most this, */
const LONGEST_MS = 120_000;
/** and looks, which leave the CPUs to the run, take one part in so many of the time. */
const SHARE = 30;

class Found {
  readonly findings = new Asked<readonly Finding[]>();
  /** Rules that could not be examined. */
  readonly open = new Asked<readonly NotExamined[]>();
  /** When it is looked again; 0: there were no samples yet. */
  private next = 0;
  private begun = 0;

  /** Of another recording. */
  forget(): void {
    this.findings.value = null;
    this.open.value = null;
    this.next = 0;
  }

  /** Looks, where it is time to. Reactive: call it in an effect. */
  look(page: Page): void {
    const { source, facts, live } = page;
    void page.tick;
    if (source === null || facts === null) return;
    const now = performance.now();
    if (live && page.extent === null) return;
    if (live && now < this.next) return;
    if (live && this.next === 0) {
      this.begun = now;
      this.next = now + FIRST_MS;
      return;
    }
    const pause = Math.max(PERIOD_MS, Math.min(now - this.begun, LONGEST_MS));
    // Not before this look has ended, however long it takes where the run needs the CPUs.
    this.next = Number.POSITIVE_INFINITY;
    this.findings.ask(async () => {
      try {
        return await source.json<readonly Finding[]>('findings');
      } finally {
        const ended = performance.now();
        this.next = ended + Math.max(pause, SHARE * (ended - now));
      }
    });
    // At once: later the tables of a run that goes on would be read again.
    this.open.ask(() => source.json<readonly NotExamined[]>('findings/open'));
  }
}

export const FOUND = new Found();
