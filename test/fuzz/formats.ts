/** The formats whose readers are tried with damaged files. */
import type { Base } from './base.ts';
import { throughCommands } from './commands.ts';
import { framesBases } from './frames-bases.ts';
import { geopmProfiles, geopmReports, geopmSessions, geopmTraces } from './geopm-bases.ts';
import type { Damaged } from './mutate.ts';
import type { Random } from './random.ts';
import { judgeRecording, recordingBases } from './recording-base.ts';
import { ross2017, rossEvents, rossSamples } from './ross-bases.ts';
import { judge, type Verdict } from './rule.ts';
import { packedBases, taccBases } from './tacc-bases.ts';
import { judgeTrace, traceBases } from './trace-bases.ts';

export interface Fuzzed {
  readonly bases: () => Base[];
  /** @throws RuleError, or whatever a reader threw, where a rule is broken */
  readonly judge: (base: Base, damaged: Damaged, random: Random) => Verdict;
}

/** What reads the damaged files: the formats' readers alone, or the commands and the server's routes. */
export type Through = 'readers' | 'commands';

/** By the name that `--format` takes. */
export const FUZZED: Readonly<Record<string, Fuzzed>> = {
  tacc: { bases: taccBases, judge },
  'tacc-gz': { bases: packedBases, judge },
  frames: { bases: framesBases, judge },
  'ross-2017': { bases: ross2017, judge },
  'ross-samples': { bases: rossSamples, judge },
  'ross-events': { bases: rossEvents, judge },
  'geopm-report': { bases: geopmReports, judge },
  'geopm-trace': { bases: geopmTraces, judge },
  'geopm-profile': { bases: geopmProfiles, judge },
  'geopm-session': { bases: geopmSessions, judge },
  'trace-event': { bases: traceBases, judge: judgeTrace },
  recording: { bases: recordingBases, judge: judgeRecording },
};

/** What judges a case. @throws RuleError where a rule is broken; anything else is a crash */
export const judgeOf = (
  format: string,
  through: Through,
): ((base: Base, damaged: Damaged, random: Random) => Verdict | Promise<Verdict>) =>
  through === 'commands' ? throughCommands : FUZZED[format].judge;
