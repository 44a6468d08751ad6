/**
 * The folder for intermediate results that do not fit into memory. DuckDB makes the folder when needed, and
 * removes it.
 */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeLeftovers } from './leftovers.ts';

/** Returns a unique name, after removing the folders of killed processes. */
export function spillFolder(): string {
  removeLeftovers(tmpdir(), /^triscope-(\d+)-[0-9a-f]{8}$/);
  return join(tmpdir(), `triscope-${process.pid}-${randomBytes(4).toString('hex')}`);
}
