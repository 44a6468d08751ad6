// Reads a file of MEGABYTES so many TIMES: with less memory than that it waits for the disk.
import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [megabytes, times] = process.argv.slice(2).map(Number);
const path = join(tmpdir(), `reread-${process.pid}`);
const piece = Buffer.alloc(1 << 20, 1);
for (let k = 0; k < megabytes; k++) writeFileSync(path, piece, { flag: 'a' });
const file = openSync(path, 'r');
try {
  for (let n = 0; n < times; n++)
    for (let k = 0; k < megabytes; k++) readSync(file, piece, 0, piece.length, k * piece.length);
} finally {
  closeSync(file);
  rmSync(path);
}
