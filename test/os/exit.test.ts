/** What a process still does when it ends at once. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const EXIT = fileURLToPath(new URL('../../dist/os/exit.js', import.meta.url));

/** Runs `code`, which has `atEnd`, `exitNow`, and `gone`, an act that removes `folder`. */
function ended(folder: string, code: string) {
  const script = `import { rmSync } from 'node:fs';
    import { atEnd, exitNow } from ${JSON.stringify(EXIT)};
    const gone = () => rmSync(${JSON.stringify(folder)}, { recursive: true });
    ${code}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script]).status;
}

it.each([
  ['atEnd(gone); exitNow(7)', 7, false],
  ['atEnd(gone); process.exit(7)', 7, false],
  ["atEnd(() => { throw new Error('no') }); atEnd(gone); exitNow(7)", 7, false],
  ['atEnd(gone)(); exitNow(7)', 7, true],
])('%s', (code, status, stays) => {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-exit-'));
  expect([ended(folder, code), existsSync(folder)]).toEqual([status, stays]);
  rmSync(folder, { recursive: true, force: true });
});
