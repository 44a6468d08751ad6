/** Where intermediate results go that memory has no room for. DuckDB makes the folder when it is needed, and removes it. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One that no other has. */
export const spillFolder = (): string =>
  join(tmpdir(), `triscope-${process.pid}-${randomBytes(4).toString('hex')}`);
