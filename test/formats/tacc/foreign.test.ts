/** Which files are told to be about another host than the folder that they lie in. */
import { expect, it } from 'vitest';
import { foreignFolder } from '../../../src/formats/tacc/index.ts';

it.each([
  ['c402-101.x.org', 'c401-101.x.org', true],
  ['c402-101', 'c401-101.x.org', true],
  ['login.x.org', 'c401-101.x.org', true],
  ['C401-101', 'c401-101.x.org', false],
  ['log1', 'c401-101.x.org', false],
  ['run.2', 'c401-101.x.org', false],
  ['2026', 'c401', false],
  ['node', 'c401', false],
])('a file in %s that says %s: %s', (folder, hostname, isForeign) => {
  const found = foreignFolder(`/data/${folder}/1772366400.gz`, hostname);
  expect(found).toBe(isForeign ? folder : null);
});
