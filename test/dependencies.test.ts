/** What npm installs, by package-lock.json, and what docs/dependencies.md says of it. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const locked = Object.entries(
  (JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }).packages,
).filter(([place]) => place !== '');
const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 13);

/** The first column of the table whose second is headed so. */
function listed(heading: string): string[] {
  const rows = read('docs/dependencies.md').split('\n');
  const first = rows.findIndex((row) => row.startsWith(`| package | ${heading} |`));
  const behind = rows.slice(first + 2);
  return behind
    .slice(
      0,
      behind.findIndex((row) => !row.startsWith('|')),
    )
    .map((row) => row.split('|')[1].trim());
}

describe('every package that npm may install', () => {
  it('has the hash of its content in the lock file', () => {
    expect(locked.length).toBeGreaterThan(200);
    const without = locked.filter(([, { integrity }]) => !/^sha512-.{86}==$/.test(integrity ?? ''));
    expect(without.map(([place]) => place)).toEqual([]);
  });

  it('is in the list of docs/dependencies.md where it has an install script', () => {
    const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripts.map(([place]) => nameOf(place)).sort()).toEqual(listed('its install script'));
  });
});

describe('what `npm run setup` installs', () => {
  it('is used by tests that exist', () => {
    const paths = [...read('scripts/setup.mjs').matchAll(/'(test\/[^']+)'/g)].map(
      ([, path]) => path,
    );
    expect(paths.length).toBeGreaterThan(8);
    expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
  });
});
