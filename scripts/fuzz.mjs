/**
 * `npm run fuzz`: tries to break what must hold, and counts how often it breaks. TRISCOPE_GOLDEN names a folder of genuine
 * files to damage beside our own. Needs a C compiler for the faults.
 *
 *     npm run fuzz                                      everything, for hours: 100,000 damaged files of each format, a fault at
 *                                                       each write and each large allocation, 200 sudden ends of each program
 *     npm run fuzz -- --format=tacc,frames              damaged files of these formats [--cases=100000] [--threads=2]
 *     npm run fuzz -- --part=commands --format=tacc     the same files through info, read, query, report and the server's routes
 *                                                       [--cases=10000]
 *     npm run fuzz -- --part=faults,allocations,kills   these parts [--cases=20: of each at most] [--target=daemon]
 *     npm run fuzz -- --seed=7                          other cases; the same seed gives the same
 *     npm run fuzz -- --format=tacc --case=417 --keep=FOLDER   one case again, its file kept
 *     npm run fuzz -- --write                           puts the counts into docs/reliability.md
 */
import { pathToFileURL } from 'node:url';

await import('./ready.mjs');
const { bundled } = await import('./bundle-tests.mjs');
await import(pathToFileURL(await bundled('test/reliability/main.ts')).href);
