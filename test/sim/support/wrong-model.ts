/** A right model, of which tests make wrong ones: each replaces a line of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Settings, simulate } from 'triscope/sim';
import { afterAll } from 'vitest';

// A blank, and letters that are not ASCII.
export const folder = mkdtempSync(join(tmpdir(), 'wrong models größer 5% '));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
export function file(text: string, end = '.ts'): string {
  const path = join(folder, `model-${made++}${end}`);
  writeFileSync(path, text);
  return path;
}

/** A right model; each case replaces one of its lines. Line 14 is `forward`'s body, 10 `init`'s. */
export const LINES = `import { array, defineModel, ring } from 'triscope/sim';
export default defineModel({
  name: 'shop',
  options: { servers: { kind: 'int', default: 2, help: 'servers' } },
  lps: () => 4,
  end: 20,
  message: { hops: 'u32' },
  state: { served: 'u32', load: 'f64', open: 'bool', bins: array('u32', 3), line: ring('f64', 4), big: 'u64' },
  init(lp) {
    lp.send(lp.id, lp.exponential(1));
  },
  forward(lp, message) {
    lp.state.served++;
    lp.send((lp.id + 1) % lp.lps, lp.exponential(1)).hops = message.hops + 1;
  },
  final(lp, results) {
    results.add('served', lp.state.served);
  },
});
`.split('\n');

/** The model with other text on one line, counted from 1. */
export const withLine = (line: number, text: string) =>
  LINES.map((old, k) => (k === line - 1 ? text : old)).join('\n');

export const failure = async (path: string, settings: Settings = {}): Promise<string> => {
  try {
    await simulate(path, settings);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it ran';
};
