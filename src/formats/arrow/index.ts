/** Arrow IPC files: see docs/export.md. */
export { type ArrowColumn, ArrowFile } from './file.ts';
export type { ArrowField, ArrowType, CustomMetadata } from './metadata.ts';
