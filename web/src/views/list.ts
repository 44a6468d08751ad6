/** The views below the lanes, in the order of their tabs; index.ts has the component of each. */
import type { Page } from '../page.svelte.ts';
import type { ViewId } from '../state.ts';

export interface View {
  /** As in the address: `#view=ID`. */
  readonly id: ViewId;
  readonly title: string;
  /** The letter that opens the view, with Shift. */
  readonly key: string;
  /** One sentence: the question that the view answers. */
  readonly help: string;
  /** What would fill it, and the command that makes it. `code` between backquotes. */
  readonly fill: string;
  /** Whether there is anything to show. Reactive. */
  available(page: Page): boolean;
  /** Whether its tab exists only if there is something to show. */
  readonly rare?: true;
  /** Whether it has something to show even without samples over time. */
  readonly timeless?: true;
}

const REGION_TABLES = [
  ...['geopm_region', 'geopm_trace', 'geopm_profile_trace'],
  ...['geopm_session', 'geopm_session_report'],
];

export const VIEWS: readonly View[] = [
  {
    id: 'cluster',
    title: 'Cluster',
    key: 'J',
    help: 'What the hosts of an archive did day by day, whose jobs took the time, and which jobs to look at.',
    fill: 'This view needs an archive’s job index: `triscope node index --archive FOLDER`.',
    available: ({ facts }) => facts?.cluster === true,
    timeless: true,
    rare: true,
  },
  {
    id: 'overview',
    title: 'Overview',
    key: 'O',
    help: 'How the run went, and what to change',
    fill: 'Any recording has this view: `triscope demo` makes one.',
    available: () => true,
    timeless: true,
  },
  {
    id: 'timeline',
    title: 'Timeline',
    key: 'T',
    help: 'What each PE, process, thread and job did when: slices in rows to pin, hide, move and filter.',
    fill: 'This view needs something that has a time: `triscope record -- COMMAND`, or `triscope sim run MODEL --record=NAME`.',
    available: (page) => page.extent !== null,
  },
  {
    id: 'simulation',
    title: 'Simulation',
    key: 'S',
    help: 'Efficiency over time, where time went, who sends to whom, which KP falls behind, which rollback caused which.',
    fill: 'This view needs samples of a simulation’s PEs: `triscope sim run MODEL --engine-stats=gvt --record=NAME`, or ROSS’s own `stats-output` folder.',
    available: (page) => ['ross_pe', 'ross_kp', 'ross_lp'].some((table) => page.has(table)),
  },
  {
    id: 'events',
    title: 'Events',
    key: 'E',
    help: 'The event trace, down to single events and their senders.',
    fill: 'This view needs traced events: `triscope sim run MODEL --event-trace=1 --record=NAME`.',
    available: (page) => page.tables.some(({ name }) => name.startsWith('ross_')),
  },
  {
    id: 'animation',
    title: 'Animation',
    key: 'M',
    help: 'LPs at their places over virtual time, coloured by what the model records.',
    fill: 'This view needs frames of a model: `triscope sim run MODEL --animate=100 --record=NAME`.',
    available: ({ facts }) => facts?.tables?.includes('sim_place') === true,
    timeless: true,
    rare: true,
  },
  {
    id: 'regions',
    title: 'Regions',
    key: 'R',
    help: 'Time and energy of each region of the program.',
    fill: 'This view needs reports or traces of regions: `triscope region launch --geopm-report=FILE -- COMMAND`, or GEOPM’s own files.',
    available: ({ facts }) => facts?.tables?.some((name) => REGION_TABLES.includes(name)) === true,
    timeless: true,
  },
  {
    id: 'nodes',
    title: 'Nodes',
    key: 'N',
    help: 'What the hosts did, which of them differ, and how well their jobs ran.',
    fill: 'This view needs samples of hosts: `triscope node collect`, `triscope sim run MODEL --record=NAME`, or raw files of tacc_stats.',
    available: ({ tables, facts }) =>
      facts?.jobs !== undefined || tables.some(({ name }) => name.startsWith('node_')),
  },
  {
    id: 'compare',
    title: 'Compare',
    key: 'C',
    help: 'What changed from one recording to the other.',
    fill: 'This view needs a second recording: `triscope serve A B`.',
    available: ({ recordings }) => recordings.length > 1,
    timeless: true,
  },
  {
    id: 'sql',
    title: 'SQL',
    key: 'Q',
    help: 'SQL queries on the recording’s tables.',
    fill: 'Any recording has this view: `triscope demo` makes one.',
    available: ({ facts }) => facts !== null && typeof facts.jobs?.user !== 'string',
    timeless: true,
  },
];
