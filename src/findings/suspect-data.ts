/** Data that may be wrong: spots that readers could not use, and recordings that did not end properly. */
import { isLackingEnd } from '../model/recording-end.ts';
import { asRows, counted, type FindingParts, type FindingRule, OWN, whole } from './finding.ts';

const ANY = {
  value: 1,
  unit: '',
  means: 'suspect spot or dropped byte: notice',
  source: `${OWN}: numbers from incomplete data are too low, and nothing about them shows it`,
};

const SPOTS = 'SELECT file, what FROM suspect ORDER BY file';
const STATE = 'SELECT name, state, error, started, ended, dropped_bytes FROM recording';

interface EndRow {
  readonly state: string | null;
  readonly error: string | null;
  readonly dropped_bytes: number | null;
}

/** Evidence lists this many spots; `info` lists all. */
const SHOWN = 100;

const ENDS: Readonly<Record<string, string>> = {
  running: 'The recording has no end: its run was killed or is still going on',
  failed: 'The run failed',
  interrupted: 'The run was interrupted',
};

export const SUSPECT_DATA: FindingRule = {
  name: 'suspect-data',
  title: 'data that is damaged, incomplete or doubtful',
  looks: 'Lists the doubts that readers had about the files, and how the recording ended.',
  needs: ['suspect', 'recording'],
  thresholds: { ANY },
  knob: 'triscope info lists every spot with its place. Numbers from incomplete data are lower bounds.',
  async run({ recording }) {
    const found: FindingParts[] = [];
    const all = await recording.query<{ file: string; what: string }>(SPOTS);
    // Below is said how the recording ended.
    const spots = all.filter(({ what }) => !isLackingEnd(what));
    if (spots.length > 0) {
      const files = new Set(spots.map(({ file }) => file)).size;
      found.push({
        severity: 'notice',
        sentence: `${counted(spots.length, 'suspect spot')} in ${counted(files, 'file')}; the first: ${spots[0].file}: ${spots[0].what}.`,
        evidence: { sql: SPOTS, rows: asRows(spots.slice(0, SHOWN)) },
        advice: this.knob,
      });
    }
    const facts = await recording.query<EndRow>(STATE);
    const evidence = { sql: STATE, rows: asRows(facts) };
    for (const { state, error, dropped_bytes } of facts) {
      const end = state === null ? undefined : ENDS[state];
      if (end !== undefined) {
        found.push({
          severity: state === 'failed' ? 'problem' : 'notice',
          sentence: `${end}${error === null ? '' : `: ${error.replace(/\.$/, '')}`}. The other findings cover the part that was recorded.`,
          evidence,
          advice: '',
        });
      }
      if (Number(dropped_bytes ?? 0) >= ANY.value) {
        found.push({
          severity: 'notice',
          sentence: `${whole(Number(dropped_bytes))} bytes of records were dropped because buffers or the disk were full.`,
          evidence,
          advice: 'Use larger buffers (--buffer-size), record less, or use a disk with more room.',
        });
      }
    }
    return found;
  },
};
