/** Writes the rules into docs/findings.md. Run after a build, when a declaration has changed. */
import { rulesText } from '../dist/findings/docs.js';
import { writeMade } from './made-docs.mjs';

writeMade('findings-docs.mjs', 'findings.md', rulesText());
