/** `recording.json`: what may be in it comes from anywhere, and nothing of it may lead out of its folder. */
import { normalize } from 'node:path';
import {
  checkRecording,
  RECORDING_FILE,
  type Recording,
  RecordingError,
} from '../../src/model/recording.ts';
import { placeOf, recordingOf } from '../query/support/recording.ts';
import { type Base, lineEnds } from './base.ts';
import type { Damaged } from './mutate.ts';
import { checkLine, RuleError, type Verdict } from './rule.ts';

const offset = (k: number) => ({
  ...{ at: `177236640${k}000000000`, monotonic: `-${k}5`, wall: '12', uncertainty: 300 },
});

const WHOLE = recordingOf({
  error: 'it was tired',
  pes: [0, 1, 2].map((pe) => placeOf({ pe, cpu: pe, threadId: 100 + pe })),
  clocks: [
    {
      ...{ host: 'h1', rank: 1, same: false, start: offset(0), end: offset(1) },
      ...{ drift: 1.5e-6, driftUncertainty: 1e-9 },
    },
  ],
});

export function recordingBases(): Base[] {
  const bytes = new TextEncoder().encode(JSON.stringify(WHOLE, null, 1));
  const places = lineEnds(bytes);
  const nothing = { records: [], ends: [], beside: {}, open: false };
  return [{ name: RECORDING_FILE, bytes, text: true, places, ...nothing }];
}

/** What a reader may rely on. */
function checkTaken({ sources, pes }: Recording): void {
  for (const { path } of sources.flatMap(({ files }) => files)) {
    if (path.startsWith('/') || normalize(path).startsWith('..')) {
      throw new RuleError(`a path that leads out of the folder was taken: ${path}`);
    }
  }
  for (const { pe } of pes) if (!Number.isSafeInteger(pe)) throw new RuleError(`PE ${pe}`);
}

export function judgeRecording(_base: Base, { bytes }: Damaged): Verdict {
  let recording: Recording;
  try {
    recording = checkRecording(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    if (!(error instanceof RecordingError || error instanceof SyntaxError)) throw error;
    if (error instanceof RecordingError) checkLine(error.message);
    return 'refused';
  }
  checkTaken(recording);
  return JSON.stringify(recording) === JSON.stringify(WHOLE) ? 'same' : 'other';
}
