/** Jobs of few groups, made by hand, and their metrics. */
import { type Job, metricsOf, openArchive, readJob } from '../../../../src/findings/job/index.ts';
import { archiveOf, type Group, NOON, rawFile } from './archive.ts';

export const jobOf = (files: Readonly<Record<string, string>>): Promise<Job> =>
  readJob(openArchive(archiveOf(files)), { id: '7' });

/** A job on host a: groups a minute apart, with marks. */
export const job = (
  schemas: readonly string[],
  ...groups: readonly (readonly string[])[]
): Promise<Job> =>
  jobOf({
    [`a/${NOON}`]: rawFile({
      ...{ host: 'a', schemas },
      groups: groups.map((records, k): Group => {
        const marks = k === 0 ? ['begin 7'] : k === groups.length - 1 ? ['end 7'] : [];
        return { time: NOON + 60 * k, jobs: '7', marks, records };
      }),
    }),
  });

export const metric = (of: Job, name: string, set = 'summary') => {
  const found = metricsOf(of).find((one) => one.set === set && one.metric.name === name);
  if (found === undefined) throw new Error(`no metric ${name}`);
  return found;
};
export const value = (of: Job, name: string, set?: string) => metric(of, name, set).value;

export const CORE = (type: string) =>
  `!${type} CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48 FIXED_CTR0,E,W=48 FIXED_CTR1,E,W=48 FIXED_CTR2,E,W=48`;
/** SSE_DOUBLE_SCALAR and SIMD_DOUBLE_256. */
export const [SCALAR, SIMD, L1_HIT] = [0x438010, 0x430211, 0x4301d1];
