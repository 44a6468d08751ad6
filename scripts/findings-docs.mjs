/** Writes the rules into docs/findings.md. Run after a build, when a declaration has changed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rulesIn } from '../dist/findings/docs.js';

const page = new URL('../docs/findings.md', import.meta.url);
writeFileSync(page, rulesIn(readFileSync(page, 'utf8')));
