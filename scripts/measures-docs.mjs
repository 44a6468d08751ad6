/** Writes the measures into docs/measures.md. Run after a build, when a declaration has changed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { measuresIn } from '../dist/model/measures/docs.js';

const page = new URL('../docs/measures.md', import.meta.url);
writeFileSync(page, measuresIn(readFileSync(page, 'utf8')));
