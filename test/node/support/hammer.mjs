// Collects with hardly a pause, in which another may have the lock, into a log: node hammer.mjs PACKAGE LOG TREE NAME. Prints the number of each group when it is
// written; every 40th time it ends the current file first.
import { writeSync } from 'node:fs';

const [, , entry, folder, root, name] = process.argv;
const { JobList, NodeLog, Programming, Sampling, recordOnce } = await import(entry);
const log = new NodeLog(folder);
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const sampling = new Sampling({ root, types: ['cpu'] });
const pmc = { program: false, programming: new Programming(`${folder}/registers`, () => {}) };
const sources = { list: new JobList(`${folder}/jobs`), file: '/nowhere' };
for (let k = 0; ; k++) {
  if (k % 40 === 39) log.locked(() => log.rotate());
  const mark = `${name} ${k}`;
  recordOnce(log, sampling, sources, { kind: 'collect', mark }, null, () => {}, pmc);
  writeSync(1, `${k}\n`);
  Atomics.wait(sleeper, 0, 0, 2);
}
