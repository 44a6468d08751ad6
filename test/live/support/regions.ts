/** A run's report, trace and profile trace, made by hand: two hosts, two processes on the first. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { regionHash } from '../../../src/model/region-hash.ts';

const hash = (name: string) => `0x${regionHash(name).toString(16).padStart(8, '0')}`;
export const SOLVE = 'solve "halo"';
export const WRITE = 'write';

const section = (runtime: number, count: number, sync: number) => `      runtime (s): ${runtime}
      count: ${count}
      sync-runtime (s): ${sync}
      package-energy (J): ${50 * sync}
      power (W): 50
      frequency (%): 80
      frequency (Hz): 2.08e+09
      time-hint-compute (s): ${0.75 * sync}
      time-hint-io (s): ${0.25 * sync}`;

const region = (name: string, ...numbers: readonly [number, number, number]) => `    -
      region: ${JSON.stringify(name)}
      hash: ${hash(name)}
${section(...numbers)}`;

const own = `    Triscope:
      complete: true
      processes:
        - pid: 11
          name: "app"
          rank: 0
          runtime (s): 10
          unmarked (s): 3
          regions:
            - region: ${JSON.stringify(SOLVE)}
              count: 4
              runtime (s): 5
            - region: "write"
              count: 1
              runtime (s): 2
        - pid: 12
          name: "app"
          rank: 1
          runtime (s): 10
          unmarked (s): 3
          regions:
            - region: ${JSON.stringify(SOLVE)}
              count: 4
              runtime (s): 2.5
      regions:
        - region: ${JSON.stringify(SOLVE)}
          count: 8
          runtime (s): 7.5
          inside:
            - region: "walk"
              count: 8
              runtime (s): 5
        - region: "write"
          count: 1
          runtime (s): 2
        - region: "fetch"
          count: 3
          runtime (s): 9
          overlapping: true`;

const hostText = (name: string, solve: number, more: string) => `  ${name}:
    Regions:
${region(SOLVE, solve, 4, 3.5)}
${region(WRITE, 1, 0.5, 0.25)}
    Unmarked Totals:
${section(5.25, 0, 6.25)}
    Epoch Totals:
${section(9, 9, 9)}
    Application Totals:
${section(10, 0, 10)}
${more}`;

/** The report. */
export const REPORT = `GEOPM Version: 3.1.0
Start Time: 2026-11-21T01:56:58.346487912+0000
Profile: "made"
Agent: monitor
Policy: {}

Hosts:
${hostText('n1', 3.75, own)}
${hostText('n2', 1.25, '')}
`;

const head = `# geopm_version: 3.1.0
# start_time: 2026-11-21T01:56:58.346487912+0000
# profile_name: "made"
# node_name: n1
# agent: monitor`;

/** 100 rows of 0.1 s: CPU 0 in solve for 5 s, then in write for 2.5, then in none; CPU 1 is not used. */
function traceText(): string {
  const rows = Array.from({ length: 101 }, (_, k) => {
    const name = k < 50 ? hash(SOLVE) : k < 75 ? hash(WRITE) : '0x725e8066';
    return [
      k / 10,
      1 + Math.floor(k / 25),
      name,
      '0x00000002',
      k * 5,
      k < 50 ? 60 : 40,
      name,
      'NAN',
    ].join('|');
  });
  return `${head}\nTIME|EPOCH_COUNT|REGION_HASH|REGION_HINT|CPU_ENERGY|CPU_POWER|REGION_HASH-cpu-0|REGION_HASH-cpu-1\n${rows.join('\n')}\n`;
}

/** Process 11: solve for 5 s, write for 2; process 12: solve for 2.5 s, then in write, never left. */
const PROFILE = `${head}
TIME|PROCESS|EVENT|SIGNAL
0|11|REGION_ENTRY|${hash(SOLVE)}
5|11|REGION_EXIT|${hash(SOLVE)}
5|11|REGION_ENTRY|${hash(WRITE)}
7|11|REGION_EXIT|${hash(WRITE)}
0|12|EPOCH_COUNT|1
1|12|REGION_ENTRY|${hash(SOLVE)}
3.5|12|REGION_EXIT|${hash(SOLVE)}
8|12|REGION_ENTRY|${hash(WRITE)}
10|12|EPOCH_COUNT|2
`;

/** A folder with all three. */
export function regionRun(): string {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-regions-'));
  writeFileSync(join(folder, 'made.report'), REPORT);
  writeFileSync(join(folder, 'made.trace-n1'), traceText());
  writeFileSync(join(folder, 'made.profile-n1'), PROFILE);
  return folder;
}
