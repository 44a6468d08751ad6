/** Errors of wrong models for programs, models of several files, and mistakes that only show when an event is handled twice. */
import '../support/small-machine.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadModel, ModelError, OptionError, simulate, TriscopeError, verify } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { failure, file, folder, LINES, withLine } from './support/wrong-model.ts';

describe('an error', () => {
  it.each([1, 2])('of a handler has its cause and stack, on %d PEs', async (pes) => {
    const path = file(withLine(13, "    throw new RangeError('too late');"));
    const error = await simulate(pathToFileURL(path), { pes, synch: 'optimistic' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TriscopeError);
    expect(error).toBeInstanceOf(ModelError);
    const { cause, message } = error as Error;
    expect(message).toContain(`: too late (at ${path}:13:`);
    expect((cause as Error).name).toBe('RangeError');
    expect((cause as Error).stack).toMatch(/^RangeError: too late\n.*model\.mjs/);
  });

  it('of a setting has the same base', async () => {
    const error = await simulate('phold', { end: -1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OptionError);
    expect(error).toBeInstanceOf(TriscopeError);
    expect(await failure('https://example.org/shop.ts')).toContain("no model 'https:");
  });
});

describe('a model’s own files', () => {
  it('are found beside it, each from its own folder', async () => {
    mkdirSync(join(folder, 'parts'), { recursive: true });
    writeFileSync(join(folder, 'parts', 'delay.txt'), '2');
    writeFileSync(
      join(folder, 'parts', 'delay.ts'),
      "import { readFileSync } from 'node:fs';\nexport const delay = Number(readFileSync(new URL('delay.txt', import.meta.url), 'utf8'));\n",
    );
    const path = file(
      `import { delay } from './parts/delay.ts';\n${withLine(14, '    lp.send(lp.id, delay).hops = import.meta.url.length;')}`,
    );
    const run = await simulate(path, { end: 7 });
    // Each LP's first event comes at random; 2 apart from there, to the end.
    expect(run.finished).toBe(true);
    expect(run.netEvents).toBeGreaterThanOrEqual(4);
  });

  it('may be CommonJS, and require', async () => {
    const path = file(
      `const { defineModel } = require('triscope/sim');\nconst { sep } = require('node:path');\n${LINES.slice(
        1,
      )
        .join('\n')
        .replace('export default', 'module.exports =')
        .replace(/, bins: array.*$/m, ' },')
        .replace("name: 'shop'", "name: 'shop' + sep.length + __filename.slice(-4)")
        .replace('  end:', '  help: __dirname,\n  end:')}`,
      '.cjs',
    );
    const run = await simulate(path, { end: 5 });
    expect(run.model).toBe('shop1.cjs');
    const loaded = await loadModel(path);
    expect(loaded.model.help).toBe(dirname(path));
    loaded.dispose();
  });

  it('may ask the clock while no handler runs', async () => {
    const run = await simulate(
      file(
        `const started = Date.now() + Math.random();\n${withLine(6, '  end: started > 0 ? 5 : 0,')}`,
      ),
    );
    expect(run.finished).toBe(true);
  });
});

describe('a mistake that only shows when an event is handled twice', () => {
  it('results and lines from a variable of the module: sim verify names it', async () => {
    const path = file(
      `const CONSTANT = [1, 2]; let cached = 0; const delays = new Map<number, number[]>();\n${withLine(14, '    lp.send(0, 1); cached = CONSTANT[1]; delays.set(lp.id, [...(delays.get(lp.id) ?? []), lp.now]);').replace("results.add('served', lp.state.served)", "results.add('delays', delays.get(lp.id)?.length ?? 0)").replace('() => 4', '() => 1')}`,
    );
    const loaded = await loadModel(path);
    let written: readonly string[] = [];
    const rows = await verify(
      loaded,
      { end: 4 },
      {
        onWritten: (names) => {
          written = names;
        },
      },
    );
    loaded.dispose();
    expect(written).toEqual([
      expect.stringMatching(/^cached \(.*:1:30\)$/),
      expect.stringMatching(/^delays \(.*:1:48\)$/),
    ]);
    const twice = rows.find((row) => row.name === 'rollback-check');
    expect(twice?.same).toBe(false);
    expect(twice?.eventDigest).toBe(rows[0].eventDigest);
    expect(twice?.difference).toMatch(
      /^same events and states; results totals.delays is (\d+) in sequential and \d+ in rollback-check: it depends on more/,
    );
  });
});
