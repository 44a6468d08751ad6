/** What rules say of recordings that are made for them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FINDINGS, type Finding, findAll } from '../../../src/findings/index.ts';
import type { Batch } from '../../../src/model/metric.ts';
import type { Recording } from '../../../src/model/recording.ts';
import { ROSS_KP, ROSS_LP, ROSS_PE, ROSS_ROLLBACK } from '../../../src/model/schemas/ross.ts';
import { openHere } from '../../query/support/open-here.ts';
import {
  batchOf,
  framesOf,
  recordingOf,
  type Values,
  writeFolder,
} from '../../query/support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'findings-'));
/** Also of files of tests that come later in the same process, each of which removes it again. */
export const removeFolder = () => rmSync(folder, { recursive: true, force: true });

let made = 0;
export function newPath(suffix: string): string {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${++made}${suffix}`);
}

/** Of the rule alone, in the folder or file at `path`. */
export async function findingsAt(path: string, rule: string): Promise<Finding[]> {
  const rules = FINDINGS.filter(({ name }) => name === rule);
  if (rules.length === 0) throw new Error(`no rule ${rule}`);
  const recording = await openHere(path);
  try {
    return await findAll(recording, { rules, path });
  } finally {
    await recording.close();
  }
}

/** Of the rule alone, in a recording with these samples. */
export const findingsOf = (
  rule: string,
  batches: readonly Batch[],
  more: Partial<Recording> = {},
): Promise<Finding[]> =>
  findingsAt(
    writeFolder(newPath('.tri'), {
      'recording.json': recordingOf(more),
      'extra.frames': framesOf(...batches),
    }),
    rule,
  );

export const said = (found: readonly Finding[]) =>
  found.map(({ severity, sentence }) => `${severity}: ${sentence}`);

/** Samples of PEs, one a second for ten seconds: a PE's counts for each. */
export const peSamples = (...pes: readonly Values[]): Batch =>
  batchOf(
    ROSS_PE,
    Array.from({ length: 10 }, (_, k) => k + 1).flatMap((second) =>
      pes.map((values, pe_id) => ({
        ...{ pe_id, mode: 'gvt', real_time: second, num_gvts: 100 * second },
        ...{ gvt_time: 0, network_read_time: 0, network_other_time: 0 },
        ...values,
      })),
    ),
  );

export const kpSamples = (...kps: readonly Values[]): Batch =>
  batchOf(
    ROSS_KP,
    kps.map((values) => ({ mode: 'gvt', real_time: 1, ...values })),
  );

export const lpSamples = (...lps: readonly Values[]): Batch =>
  batchOf(
    ROSS_LP,
    lps.map((values, lp_id) => ({ mode: 'gvt', real_time: 1, lp_id, ...values })),
  );

export const rollbacks = (...rows: readonly Values[]): Batch =>
  batchOf(
    ROSS_ROLLBACK,
    rows.map((values) => ({ real_time: 1, cause: 'straggler', depth: 1, ...values })),
  );
