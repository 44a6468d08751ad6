/** Programs that mark regions, and reports of them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { type Call, type Outcome, temporaryFolder, triscope } from './run.ts';

export const HOST = hostname();
const REGION = new URL('../../../dist/region/index.js', import.meta.url).href;

type Fields = Readonly<Record<string, number | string>>;

export interface OwnProcess {
  readonly pid: number;
  readonly regions: readonly Fields[];
  readonly [key: string]: unknown;
}

export interface Section {
  readonly Regions?: readonly Fields[];
  readonly 'Unmarked Totals'?: Fields;
  readonly 'Epoch Totals'?: Fields;
  readonly 'Application Totals': Fields;
  readonly Triscope: {
    readonly complete: boolean;
    readonly incomplete?: string;
    readonly exit?: string;
    readonly sampling: Fields;
    readonly geopm: Fields;
    readonly processes: readonly OwnProcess[];
    readonly regions: readonly unknown[];
    readonly warnings?: readonly string[];
  };
}

export interface Parsed {
  readonly Policy: unknown;
  readonly Agent: string;
  readonly Profile: string;
  readonly 'GEOPM Version': string;
  readonly Hosts: Readonly<Record<string, Section>>;
}

export interface Launched extends Outcome {
  readonly folder: string;
  readonly report: Parsed;
  readonly host: Section;
  readonly text: string;
}

/** A folder with a Node program `app.mjs`; `sleep(ms)` blocks. */
export function programFolder(body: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'app.mjs'), programText(body));
  return folder;
}

export const programText = (body: string) => `
import { region, epoch, shutdown } from ${JSON.stringify(REGION)};
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
/** Waits until it is so, 20 seconds at most. */
const until = (isSo) => { for (let k = 0; k < 1000 && !isSo(); k++) sleep(20); };
${body}
`;

export function readReport(path: string): { report: Parsed; host: Section; text: string } {
  const text = readFileSync(path, 'utf8');
  const report = parse(text, { uniqueKeys: true }) as Parsed;
  return { report, host: report.Hosts[HOST], text };
}

/** Launches `command` in `folder`, and reads the report. */
export async function launched(
  folder: string,
  options: readonly string[],
  command: readonly string[] = [process.execPath, 'app.mjs'],
  call: Call = {},
): Promise<Launched> {
  const args = ['region', 'launch', ...options, '--', ...command];
  const outcome = await triscope(args, { cwd: folder, ...call });
  return { ...outcome, folder, ...readReport(join(folder, 'geopm.report')) };
}

/** Writes files of a recorded machine; returns its root. */
export function tree(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

/** Two CPUs in one package. */
export const CPUS: Readonly<Record<string, string>> = Object.fromEntries(
  [0, 1].flatMap((cpu) => [
    [`sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`, '0'],
    [`sys/devices/system/cpu/cpu${cpu}/topology/core_id`, String(cpu)],
  ]),
);

/** RAPL of one package, by powercap. */
export const POWERCAP: Readonly<Record<string, string>> = {
  'sys/class/powercap/intel-rapl:0/name': 'package-0',
  'sys/class/powercap/intel-rapl:0/enabled': '1',
  'sys/class/powercap/intel-rapl:0/energy_uj': '1000000',
  'sys/class/powercap/intel-rapl:0/max_energy_range_uj': '262143328850',
  'sys/class/powercap/intel-rapl:0/constraint_0_name': 'long_term',
  'sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw': '200000000',
};

/** Path of a file beside the tests. */
export const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Regions and unmarked are the application; hints are within the time that they are of; 50 W are 50 W. */
export function addsUp({ host }: Pick<Launched, 'host'>): void {
  const sections = [...(host.Regions ?? []), host['Unmarked Totals'] ?? {}];
  const sum = (key: string) => sections.reduce((total, one) => total + Number(one[key]), 0);
  const whole = Number(host.Triscope.geopm['application sync-runtime (s)']);
  expect(sum('sync-runtime (s)')).toBeCloseTo(whole, 4);
  for (const section of [...sections, host['Application Totals']]) {
    const hints = Object.entries(section).filter(([key]) => key.startsWith('time-hint-'));
    const hinted = hints.reduce((total, [, seconds]) => total + Number(seconds), 0);
    // Six digits are printed of each.
    expect(hinted).toBeLessThanOrEqual(Number(section['sync-runtime (s)']) * 1.00002 + 1e-9);
  }
  expect(host['Application Totals']['package-energy (J)']).toBeCloseTo(50 * whole, 0);
}
