/** Writes the tables of metrics and flags into docs/node/jobs.md. Run after a build, when a declaration has changed. */
import { formulas } from '../dist/findings/job/formulas.js';
import { writeMade } from './made-docs.mjs';

writeMade('job-docs.mjs', 'node/jobs.md', formulas());
