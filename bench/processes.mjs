/**
 * What processes cost against a handler: one model in three styles (`processes-model.ts`), in turns, on one PE and on two.
 *
 *     npm run bench:processes -- [REPEATS] [END]
 */
import { fileURLToPath } from 'node:url';
import { loadModel, simulate } from '../dist/sim/index.js';

const [repeats = 5, end = 1000] = process.argv.slice(2).map(Number);
const STYLES = ['handler', 'steps', 'generator'];
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

for (const [name, settings] of [
  ['sequential', {}],
  ['optimistic, 1 PE', { synch: 'optimistic' }],
  ['optimistic, 2 PEs', { pes: 2 }],
]) {
  const seconds = new Map(STYLES.map((style) => [style, []]));
  const digests = new Set();
  let undone = 0;
  for (let k = 0; k < repeats; k++) {
    for (const style of STYLES) {
      // Loaded anew: else one style's code is compiled for what another did.
      const loaded = await loadModel(fileURLToPath(new URL('processes-model.ts', import.meta.url)));
      const run = await simulate(loaded, { end, ...settings, options: { style } });
      loaded.dispose();
      seconds.get(style).push(run.wallSeconds);
      digests.add(run.eventDigest);
      undone = Math.max(undone, run.eventsRolledBack);
    }
  }
  const [handler] = STYLES.map((style) => median(seconds.get(style)));
  const shown = STYLES.map((style) => {
    const one = median(seconds.get(style));
    return `${style} ${one.toFixed(3)} s (${(one / handler).toFixed(2)} × handler)`;
  });
  console.log(
    `${name}: ${shown.join(', ')}; at most ${undone} events undone; digests: ${digests.size}`,
  );
}
