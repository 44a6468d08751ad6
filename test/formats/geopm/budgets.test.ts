/** Reports that are made to cost: what is nested without end is cut off, what is long takes what its length does. */
import { describe, expect, it } from 'vitest';
import { readYamlReports } from '../../../src/formats/geopm/read/report.ts';
import { readDocuments } from '../../../src/formats/geopm/read/yaml.ts';
import { grows, processorTime } from '../../support/grows.ts';

const HEAD = '##### geopm 3.0 #####\nProfile: x\nHosts:\n  h:\n    Regions:\n';

describe('what is nested without end', () => {
  it.each<[string, (levels: number) => string]>([
    ['lists', (levels) => `      - ${'['.repeat(levels)}\n`],
    ['maps', (levels) => `      a: ${'{a: '.repeat(levels)}\n`],
    ['dashes', (levels) => `      ${'- '.repeat(levels)}x\n`],
    ['questions', (levels) => `      ${'? '.repeat(levels)}x\n`],
    [
      'blocks',
      (levels) => Array.from({ length: levels }, (_, k) => `${' '.repeat(6 + k)}a:\n`).join(''),
    ],
  ])('%s: nothing from where it is too deep is given to YAML', (name, of) => {
    const sizes = name === 'blocks' ? [400, 800, 1600] : [2 ** 18, 2 ** 19, 2 ** 20];
    const read = sizes.map((levels) => readDocuments(HEAD + of(levels)));
    const [{ text }] = read;
    expect(text.length).toBeLessThan(HEAD.length + 256 * 256);
    expect(read.map((one) => one.text === text)).toEqual([true, true, true]);
    for (const { oddities } of read) {
      expect(oddities.at(-1)?.what).toContain('more than 256 levels deep: left out from here');
    }
  });
});

describe('what is long', () => {
  it.each<[string, (times: number) => string]>([
    ['many references', (times) => `      - &a [x]\n${'      - [*a, *a]\n'.repeat(times)}`],
    ['many blanks', (times) => `${' '.repeat(64 * times)}\n${'      # x\n'.repeat(times)}`],
    [
      'deep, and up again',
      (times) =>
        Array.from({ length: 60 }, (_, k) => `${' '.repeat(6 + k)}a:\n`)
          .join('')
          .repeat(times / 100),
    ],
  ])('%s', (_, of) =>
    grows(600, (times) => {
      const text = HEAD + of(times);
      return processorTime(() => readYamlReports(text));
    }),
  );
});
