/**
 * Elementary functions whose results are the same bits on every JavaScript engine: built from
 * + - * /, `Math.floor` and bit access only, so a simulation repeats exactly anywhere.
 */
export { exp } from './exp.ts';
export { gammaFunction } from './gamma.ts';
export { log } from './log.ts';
export { pow } from './pow.ts';
export { cos, cosTurn, sin, sinTurn } from './trig.ts';
