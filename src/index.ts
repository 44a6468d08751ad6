/**
 * The simulator: everything that `triscope/sim` exports, under the package's own name.
 *
 * @module triscope
 */
export * from './sim/index.ts';
