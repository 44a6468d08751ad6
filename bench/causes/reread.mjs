// Reads random pieces of a file of MEGABYTES, TIMES its size in all: with less memory than that it waits for the disk.
import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PIECE = 16 << 10;
const [megabytes, times] = process.argv.slice(2).map(Number);
const path = join(tmpdir(), `reread-${process.pid}`);
const bytes = Buffer.alloc(1 << 20, 1);
for (let k = 0; k < megabytes; k++) writeFileSync(path, bytes, { flag: 'a' });
const file = openSync(path, 'r');
const pieces = (megabytes << 20) / PIECE;
let place = 1;
try {
  for (let n = 0; n < times * pieces; n++) {
    place = (Math.imul(place, 1664525) + 1013904223) >>> 0;
    readSync(file, bytes, 0, PIECE, PIECE * Math.floor((place / 2 ** 32) * pieces));
  }
} finally {
  closeSync(file);
  rmSync(path);
}
