/** The version of this package, from its `package.json`. */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** As in `triscope --version`. */
export function version(): string {
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as Manifest;
  return manifest.version ?? 'unknown';
}
