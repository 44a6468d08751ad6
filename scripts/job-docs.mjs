/** Writes the tables of metrics and flags into docs/node/jobs.md. Run after a build, when a declaration has changed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { formulasIn } from '../dist/findings/job/formulas.js';

const page = new URL('../docs/node/jobs.md', import.meta.url);
writeFileSync(page, formulasIn(readFileSync(page, 'utf8')));
