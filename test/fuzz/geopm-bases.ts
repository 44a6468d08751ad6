/** GEOPM's files of every kind, written by us and genuine. */
import { type Base, baseOf, byCutting, byRow } from './base.ts';
import { goldenFiles } from './golden.ts';

const section = (region: string, k: number) => `    -
      region: "${region}"
      hash: 0x${(0xd3d99e8b + k).toString(16)}
      runtime (s): ${k + 0.5}
      count: ${k}
      power (W): nan
      CPU_FREQUENCY_STATUS: 2.08e+0${k}
`;
const totals = (title: string) => `    ${title}:
      runtime (s): 0.25
      count: 0
`;
const REPORT = `GEOPM Version: 3.1.0
Start Time: 2026-11-21T02:00:54.493658912+0000
Profile: "two"
Agent: monitor
Policy: {}

Hosts:
${['vm', 'vm2']
  .map(
    (host) => `  ${host}:
    Regions:
${section('A', 1)}${section('solve halo/é', 2)}${totals('Unmarked Totals')}${totals('Epoch Totals')}${totals('Application Totals')}`,
  )
  .join('')}`;

const TEXT_REPORT = `##### geopm 1.0.0 #####
Start Time: Sat Nov 21 02:00:54 2026
Profile: old
Agent: monitor

Host: mcfly1
${[1, 2, 3]
  .map(
    (k) => `Region dgemm${k} (0x00000000a74bbf3${k}):
\truntime (sec): ${k + 0.5}
\tcount: ${k}
`,
  )
  .join('')}Epoch Totals:
\truntime (sec): 3.5
Application Totals:
\truntime (sec): 12.5
\tcount: 0
`;

const HEAD = `# geopm_version: 3.1.0
# start_time: 2026-11-21T02:00:54.493658912+0000
# profile_name: "two"
# node_name: vm
# agent: monitor
`;
const ROWS = Array.from({ length: 16 }, (_, k) => k);
const TRACE = `${HEAD}TIME|EPOCH_COUNT|REGION_HASH|REGION_HINT|REGION_PROGRESS|CPU_ENERGY
${ROWS.map((k) => `${k / 8}|${k}|0x725e806${k % 10}|0x00000000|nan|${k * 12.5}\n`).join('')}`;
const PROFILE = `${HEAD}TIME|PROCESS|EVENT|SIGNAL
${ROWS.map((k) => `${k / 8}|${k % 2}|REGION_${k % 4 < 2 ? 'ENTRY' : 'EXIT'}|0x725e806${k % 10}\n`).join('')}`;
const SESSION = `"TIME","CPU_ENERGY-package-0","CPU_FREQUENCY_STATUS-cpu-0"
${ROWS.map((k) => `${k / 8},${k * 2.5},2080000000\n`).join('')}`;
const STATISTICS = `"host","sample-time-first","sample-count","TIME-mean"
${ROWS.map((k) => `"vm","2026-11-21T01:58:2${k % 10}.115717631+0000",${k},${k / 3}\n`).join('')}`;
const SESSION_REPORT = [1, 2, 3]
  .map(
    (k) => `host: "vm"
sample-time-first: "2026-11-21T02:08:3${k}.025075242+0000"
sample-count: ${k}
metrics:
  TIME:
    count: ${k}
    mean: ${k / 2}
`,
  )
  .join('---\n');

const report = (name: string, text: string | Uint8Array): Base =>
  baseOf(name, Buffer.from(text), { text: true, ends: byCutting(name), open: true, most: 1 << 20 });
const table = (name: string, text: string | Uint8Array): Base =>
  baseOf(name, Buffer.from(text), { text: true, ends: byRow, most: 1600 });

const golden = (pattern: RegExp, of: typeof report, most: number): Base[] =>
  goldenFiles('geopm', pattern)
    .filter(({ bytes }) => bytes.length <= most)
    .map(({ name, bytes }) => of(name, bytes));

export const geopmReports = (): Base[] => [
  report('app.report', REPORT),
  report('old.report', TEXT_REPORT),
  ...golden(/(killed-app|no-regions)\.report-vm$/, report, 1500),
];

export const geopmTraces = (): Base[] => [
  table('app.trace-vm', TRACE),
  ...golden(/(\.trace-vm|\.trace)$/, table, 1 << 20),
];

export const geopmProfiles = (): Base[] => [
  table('app.profile-trace-vm', PROFILE),
  ...golden(/profile[-_]trace(-vm)?$/, table, 1 << 20),
];

export const geopmSessions = (): Base[] => [
  table('session.csv', SESSION),
  table('statistics.csv', STATISTICS),
  report('session.yaml', SESSION_REPORT),
  ...golden(/session\/.*\.csv$/, table, 1 << 20),
];
