/** Arrow IPC files: see docs/export.md. */
export { type ArrowColumn, ArrowFile } from './file.ts';
export type { ArrowField, ArrowType, Facts } from './metadata.ts';
