/** Commands from the scripts of `dist/quick`, as bin/triscope runs them, and from the modules that those are made of. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BIN, triscope } from './support/run.ts';

const PHOLD = ['sim', 'run', 'phold', '--total-lps=64', '--lookahead=0.1', '--end=200', '--json'];
/** With a module of the user's before it, the command is made of modules. */
const MODULES = { NODE_OPTIONS: '--import=data:text/javascript,' };

describe.skipIf(!existsSync(new URL('../dist/quick/main.js', `file://${BIN}`)))('a script', () => {
  it.each([1, 2])('simulates on %i PEs what its modules do', async (pes) => {
    const args = [...PHOLD, `--pes=${pes}`];
    const runs = await Promise.all([triscope(args), triscope(args, { env: MODULES })]);
    const [script, modules] = runs.map(({ out }) => JSON.parse(out));
    expect(script.eventDigest).toBe(modules.eventDigest);
    expect(script.stateDigest).toBe(modules.stateDigest);
    expect(script.netEvents).toBe(modules.netEvents);
  });

  it('refuses in the same words', async () => {
    const args = ['sim', 'run', 'phold', '--synch=seqential'];
    const [script, modules] = await Promise.all([triscope(args), triscope(args, { env: MODULES })]);
    expect(script.code).toBe(2);
    expect([script.code, script.err]).toEqual([modules.code, modules.err]);
  });
});
