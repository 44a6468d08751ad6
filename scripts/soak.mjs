/**
 * `npm run soak`: keeps `node daemon` and `serve` under load for an hour and judges their memory by its slope.
 *
 *     npm run soak -- [--minutes=60] [--requests=100] [--samples=10: a second, at most] [--write: put the result into docs/reliability.md]
 */
import { pathToFileURL } from 'node:url';

await import('./ready.mjs');
const { bundled } = await import('./bundle-tests.mjs');
await import(pathToFileURL(await bundled('test/reliability/soak.ts')).href);
