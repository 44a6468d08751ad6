/** Reports of regions and archives of jobs that are made for a rule. */
import { writeFileSync } from 'node:fs';
import { NOON } from '../../query/support/recording.ts';
import { archiveOf, type Group, rawFile } from '../job/support/archive.ts';
import { newPath } from './findings.ts';

interface Region {
  readonly name: string;
  readonly runtime: number;
  readonly sync: number;
  readonly joules: number;
  readonly network?: number;
}

/** A report of GEOPM with one host. */
export function reportText(regions: readonly Region[], frequency = 100): string {
  const values = ({ runtime, sync, joules, network = 0 }: Region, indent: string) =>
    [
      `runtime (s): ${runtime}`,
      'count: 10',
      `sync-runtime (s): ${sync}`,
      `package-energy (J): ${joules}`,
      'dram-energy (J): 0',
      `power (W): ${joules / sync}`,
      `frequency (%): ${frequency}`,
      `frequency (Hz): ${frequency * 2e7}`,
      `time-hint-network (s): ${network}`,
    ]
      .map((line) => `${indent}${line}`)
      .join('\n');
  const joules = regions.reduce((sum, one) => sum + one.joules, 0);
  return `GEOPM Version: 3.1.0
Start Time: Sun Mar 1 12:00:00 2026
Profile: test
Agent: monitor
Policy: {}

Hosts:
  h1:
    Regions:
${regions.map((one) => `    -\n      region: "${one.name}"\n      hash: 0x12345678\n${values(one, '      ')}`).join('\n')}
    Unmarked Totals:
${values({ name: '', runtime: 1, sync: 1, joules: 0 }, '      ')}
    Epoch Totals:
${values({ name: '', runtime: 0, sync: 0.001, joules: 0 }, '      ')}
    Application Totals:
${values({ name: '', runtime: 10, sync: 10, joules }, '      ')}
      geopmctl memory HWM (B): 1000
      geopmctl network BW (B/s): 0
`;
}

export function report(regions: readonly Region[], frequency?: number): string {
  const path = newPath('.report');
  writeFileSync(path, reportText(regions, frequency));
  return path;
}

export const ALIGNED = { name: 'solve', runtime: 4, sync: 3.9, joules: 400 };

/** Job 7 on its hosts: groups `every` seconds apart, with marks; of each group and host its records. */
export function jobAt(
  schemas: readonly string[],
  hosts: Readonly<Record<string, readonly (readonly string[])[]>>,
  every = 60,
): string {
  return archiveOf(
    Object.fromEntries(
      Object.entries(hosts).map(([host, groups]) => [
        `${host}/${NOON}`,
        rawFile({
          ...{ host, schemas },
          groups: groups.map((records, k): Group => {
            const last = k === groups.length - 1;
            const marks = k === 0 ? ['begin 7'] : last ? ['end 7'] : [];
            return { time: NOON + every * k, jobs: '7', marks, records };
          }),
        }),
      ]),
    ),
  );
}

export const INTEL =
  '!intel_snb CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48 FIXED_CTR0,E,W=48 FIXED_CTR1,E,W=48 FIXED_CTR2,E,W=48';
/** Instructions, core and reference cycles of CPU 0 in a minute. */
export const cpi = (instructions: number, cycles: number) =>
  jobAt([INTEL], {
    a: [['intel_snb 0 0 0 0 0 0 0 0'], [`intel_snb 0 0 0 0 0 ${instructions} ${cycles} ${cycles}`]],
  });
/** User cs by minute. */
export const user = (...totals: number[]) => totals.map((cs) => [`cpu 0 ${cs} 0 0 0`]);
