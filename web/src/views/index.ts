/** The component that draws each view: the first one comes with the page, the others are loaded when they are opened. */
import type { Component } from 'svelte';
import type { ViewId } from '../state.ts';
import Overview from './Overview.svelte';
import type { ViewProps } from './view-props.ts';

export type ViewComponent = Component<ViewProps>;

const LOADERS: Readonly<Record<ViewId, () => Promise<{ readonly default: ViewComponent }>>> = {
  animation: () => import('./Animation.svelte'),
  cluster: () => import('./Cluster.svelte'),
  compare: () => import('./Compare.svelte'),
  events: () => import('./Events.svelte'),
  nodes: () => import('./Nodes.svelte'),
  overview: async () => ({ default: Overview }),
  regions: () => import('./Regions.svelte'),
  simulation: () => import('./Simulation.svelte'),
  sql: () => import('./Sql.svelte'),
  timeline: () => import('./Timeline.svelte'),
};

/** What comes with the page. */
export const FIRST: Readonly<Partial<Record<ViewId, ViewComponent>>> = { overview: Overview };

/** @throws Error where its code cannot be loaded */
export const load = async (id: ViewId): Promise<ViewComponent> => (await LOADERS[id]()).default;
