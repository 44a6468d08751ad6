/**
 * Writes what is generated from the declarations of commands: docs/command-line.md, the help with which tests compare
 * (test/cli/support/help), the list of man pages in package.json, and the pages themselves into dist/man, of which a
 * package includes them (`--man`: only those). Run it after a build, when a declaration has changed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pagesOf } from '../dist/cli/commands/help.js';
import { COMMANDS } from '../dist/cli/commands/index.js';
import { manPages, withReference } from '../dist/cli/docs.js';
import { pageText } from '../dist/cli/help.js';
import { version } from '../dist/cli/version.js';

const at = (path) => new URL(`../${path}`, import.meta.url);
const rewrite = (path, change) => writeFileSync(at(path), change(readFileSync(at(path), 'utf8')));

const pages = await pagesOf(COMMANDS);
const manual = manPages(pages, COMMANDS, version());
mkdirSync(at('dist/man'), { recursive: true });
for (const [name, text] of manual) writeFileSync(at(`dist/man/${name}`), text);

if (!process.argv.includes('--man')) {
  rewrite('docs/command-line.md', (text) => withReference(text, pages));
  for (const width of [60, 80, 200]) {
    const text = pages.map((page) => pageText(page, width)).join('\n');
    writeFileSync(at(`test/cli/support/help/${width}.txt`), text);
  }
  rewrite('package.json', (text) => {
    const man = [...manual.keys()].map((name) => `dist/man/${name}`);
    return `${JSON.stringify({ ...JSON.parse(text), man }, null, 2)}\n`;
  });
}
