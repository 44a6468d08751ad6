/** The component that draws each view. */
import type { Component } from 'svelte';
import type { ViewId } from '../state.ts';
import Animation from './Animation.svelte';
import Cluster from './Cluster.svelte';
import Compare from './Compare.svelte';
import Events from './Events.svelte';
import Nodes from './Nodes.svelte';
import Overview from './Overview.svelte';
import Regions from './Regions.svelte';
import Simulation from './Simulation.svelte';
import Sql from './Sql.svelte';
import Timeline from './Timeline.svelte';
import type { ViewProps } from './view-props.ts';

export const COMPONENTS: Readonly<Record<ViewId, Component<ViewProps>>> = {
  animation: Animation,
  cluster: Cluster,
  compare: Compare,
  events: Events,
  nodes: Nodes,
  overview: Overview,
  regions: Regions,
  simulation: Simulation,
  sql: Sql,
  timeline: Timeline,
};
