/** All declared measures, for the tables in the documents and for the macros of SQL. */
import type { Measure } from './measure.ts';
import * as node from './node.ts';
import * as region from './region.ts';
import * as simulation from './simulation.ts';

const measuresOf = (module: Readonly<Record<string, Measure | readonly Measure[]>>): Measure[] =>
  Object.values(module).flat();

/** By layer. */
export const DECLARED: readonly {
  readonly title: string;
  readonly measures: readonly Measure[];
}[] = [
  { title: 'PEs, KPs, LPs', measures: measuresOf(simulation) },
  { title: 'Regions', measures: measuresOf(region) },
  { title: 'Hosts and their CPUs', measures: measuresOf(node) },
];
