import { expect, it } from 'vitest';
import * as data from '../../src/sim/math/table-data.ts';

// A name TypeScript does not resolve: the script has no declarations.
const script = new URL('../../scripts/math-tables.mjs', import.meta.url).href;

/** The numbers as hexadecimal text, which tells all doubles apart, 0 and -0 too. */
function bits(tables: Record<string, ArrayLike<number>>): Record<string, string[]> {
  const view = new DataView(new ArrayBuffer(8));
  const hex = (x: number) => {
    view.setFloat64(0, x);
    return view.getBigUint64(0).toString(16);
  };
  return Object.fromEntries(
    Object.entries(tables).map(([name, values]) => [name, Array.from(values, hex)]),
  );
}

it('the tables of the elementary functions are what their script computes', async () => {
  const { computeTables } = (await import(script)) as {
    computeTables(): Record<string, ArrayLike<number>>;
  };
  expect(bits({ ...data })).toEqual(bits(computeTables()));
});
