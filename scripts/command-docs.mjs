/** Writes the commands into docs/command-line.md. Run after a build, when a declaration has changed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { allPages } from '../dist/cli/commands/help.js';
import { withReference } from '../dist/cli/docs.js';

const page = new URL('../docs/command-line.md', import.meta.url);
writeFileSync(page, withReference(readFileSync(page, 'utf8'), await allPages()));
