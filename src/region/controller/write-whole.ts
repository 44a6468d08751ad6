/** Writes a file in one piece: whoever reads it sees all of the old text or all of the new. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

export function writeWhole(path: string, text: string): void {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(beside, text);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
