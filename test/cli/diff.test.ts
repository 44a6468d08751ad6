/** `triscope diff A B` of two reports of GEOPM, as a user calls it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, triscopeHere } from './support/run.ts';

const FOLDER = temporaryFolder();
const [A, B, NONE] = ['a', 'b', 'none'].map((name) => join(FOLDER, `${name}.report`));

const report = (host: string, runtime: number, regions: string) => `GEOPM Version: 3.1.0
Start Time: now
Profile: "p"
Agent: monitor
Policy: {}

Hosts:
  ${host}:
    Regions:
${regions}    Application Totals:
      runtime (s): ${runtime}
      package-energy (J): 50
`;
const region = (name: string, runtime: number) =>
  `    -\n      region: "${name}"\n      hash: 0x1\n      runtime (s): ${runtime}\n      count: 10\n`;

beforeAll(() => {
  writeFileSync(A, report('vm1', 4, region('A', 2) + region('old', 1)));
  writeFileSync(B, report('vm2', 5, region('A', 1.5) + region('new', 1)));
  writeFileSync(NONE, 'TIME|PROCESS|EVENT|SIGNAL\n0|1|EPOCH_COUNT|1\n');
});

describe('triscope diff of two reports', () => {
  it('names what changed, by how much, and what only one has', async () => {
    const { code, out } = await triscopeHere(['diff', A, B]);
    expect(code).toBe(0);
    expect(out).toMatch(/vm1, region A\n +A +B +change\n {2}runtime \(s\) +2 +1\.5 +-25\.0 %\n\n/);
    expect(out).toMatch(/vm1, region old\n.*\n {2}runtime \(s\) +1 +- +only in A\n/);
    expect(out).toMatch(/vm2, region new\n.*\n {2}runtime \(s\) +- +1 +only in B\n/);
    expect(out).toMatch(/vm1, application\n.*\n {2}runtime \(s\) +4 +5 +\+25\.0 %\n/);
    expect(out).not.toContain('package-energy');
  });

  it('prints JSON, leaves out small changes, and says when there is no difference', async () => {
    const json = JSON.parse((await triscopeHere(['diff', A, B, '--json', '--least=25'])).out);
    expect(json.values).toContainEqual({
      host: 'vm1',
      section: 'region',
      region: 'A',
      key: 'runtime (s)',
      a: 2,
      b: 1.5,
    });
    const all = JSON.parse((await triscopeHere(['diff', A, B, '--json', '--all'])).out);
    expect(all.values).toHaveLength(8);
    expect((await triscopeHere(['diff', A, A])).out).toBe('no difference in 6 values\n');
  });

  it('compares regions inside regions by their path, and no processes', async () => {
    const own = (pid: number, walk: number) => `    Triscope:
      complete: true
      processes:
        - pid: ${pid}
          name: "app"
          runtime (s): 4
          regions:
            - region: "A"
              count: 10
              runtime (s): 2
      regions:
        - region: "A"
          count: 10
          runtime (s): 2
          inside:
            - region: "walk"
              count: 10
              runtime (s): ${walk}
`;
    const path = join(FOLDER, 'own.report');
    const other = join(FOLDER, 'other.report');
    writeFileSync(path, report('vm1', 4, region('A', 2)) + own(17, 1));
    writeFileSync(other, report('vm1', 4, region('A', 2)) + own(18, 1.5));
    const { out } = await triscopeHere(['diff', path, other]);
    expect(out).toMatch(/^vm1, region A \/ walk\n.*\n {2}runtime \(s\) +1 +1\.5 +\+50\.0 %\n\n$/);
  });

  it('says where a report is cut off', async () => {
    const cut = join(FOLDER, 'cut.report');
    writeFileSync(cut, report('vm1', 4, region('A', 2)).slice(0, -3));
    const { err } = await triscopeHere(['diff', A, cut]);
    expect(err).toBe(
      `triscope: ${cut}: line 17: the line has no end: its last value may be cut off\n`,
    );
  });

  it('refuses files of other kinds, and other than two', async () => {
    const wrong = await triscopeHere(['diff', A, NONE]);
    expect(wrong.code).toBe(3);
    expect(wrong.err).toContain('none.report have nothing in common to compare');
    expect((await triscopeHere(['diff', A])).code).toBe(2);
    expect((await triscopeHere(['diff', A, B, '--least=x'])).code).toBe(2);
    expect((await triscopeHere(['diff', A, join(FOLDER, 'absent')])).code).toBe(3);
  });
});
