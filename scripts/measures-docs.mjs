/** Writes the measures into docs/measures.md. Run after a build, when a declaration has changed. */
import { measuresText } from '../dist/model/measures/docs.js';
import { writeMade } from './made-docs.mjs';

writeMade('measures-docs.mjs', 'measures.md', measuresText());
