export * from './sim/index.ts';
