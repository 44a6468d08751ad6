/** The views below the lanes, in the order of their tabs. A view adds one line here. */
import type { Component } from 'svelte';
import type { Page } from '../page.svelte.ts';
import Compare from './Compare.svelte';
import Events from './Events.svelte';
import Nodes from './Nodes.svelte';
import Overview from './Overview.svelte';
import Regions from './Regions.svelte';
import Simulation from './Simulation.svelte';

export interface ViewProps {
  /**
   * `page.facts`, `page.state`, `page.source`, `page.window`, `page.axis`, `page.tick`, `page.live` …: see Page. When a
   * view is shown, facts and source are there; window is null before the first samples.
   */
  readonly page: Page;
}

export interface View {
  /** As in the address: `#view=ID`. */
  readonly id: string;
  readonly title: string;
  /** Letter that goes to the view, with Shift. */
  readonly key: string;
  /** One sentence: what the view answers. */
  readonly help: string;
  /** Whether there is anything to show. Reactive. */
  available(page: Page): boolean;
  /** Whether it has something to show without samples over time, too. */
  readonly timeless?: true;
  readonly component: Component<ViewProps>;
}

const REGION_TABLES = ['geopm_region', 'geopm_trace', 'geopm_profile_trace'];

export const VIEWS: readonly View[] = [
  {
    id: 'overview',
    title: 'Overview',
    key: 'O',
    help: 'How the run went, and what to do about it.',
    available: () => true,
    timeless: true,
    component: Overview,
  },
  {
    id: 'simulation',
    title: 'Simulation',
    key: 'S',
    help: 'Who was efficient when, where time went, who talks to whom, who lags, what undid what.',
    available: (page) => ['ross_pe', 'ross_kp', 'ross_lp'].some((table) => page.has(table)),
    component: Simulation,
  },
  {
    id: 'events',
    title: 'Events',
    key: 'E',
    help: 'The trace of events, down to single ones and what sent them.',
    available: (page) => page.tables.some(({ name }) => name.startsWith('ross_')),
    component: Events,
  },
  {
    id: 'regions',
    title: 'Regions',
    key: 'R',
    help: 'Where the time and energy of each part of the program went.',
    available: ({ facts }) => facts?.tables?.some((name) => REGION_TABLES.includes(name)) === true,
    component: Regions,
    timeless: true,
  },
  {
    id: 'nodes',
    title: 'Nodes',
    key: 'N',
    help: 'What the hosts did, which differ from the others, and how good their jobs were.',
    available: ({ tables }) => tables.some(({ name }) => name.startsWith('node_')),
    component: Nodes,
  },
  {
    id: 'compare',
    title: 'Compare',
    key: 'C',
    help: 'What changed from one recording to another.',
    available: ({ recordings }) => recordings.length > 1,
    timeless: true,
    component: Compare,
  },
];
