/** The measures as macros of SQL, in a schema of their own: `measure.efficiency(events_processed, events_rolled_back)`. */
import { DECLARED, macroOf } from '../model/measures/index.ts';

/** Name of the schema. */
export const MEASURES = 'measure';
export const NAMES_MEASURES = /\bmeasure"?\s*\./i;

export const measureStatements = (): string[] => [
  `CREATE SCHEMA ${MEASURES}`,
  ...DECLARED.flatMap(({ measures }) => measures.map((one) => macroOf(MEASURES, one))),
];
