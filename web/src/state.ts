/**
 * The state of the page, as it stands in the address after `#`: reloading, going back, or sending the link gives the same
 * page. Only what differs from the default is written.
 */

/** The unit of the time axis: seconds of real time, the time of day, the model's virtual time, or GVT computations. */
export type AxisKind = 'real' | 'wall' | 'virtual' | 'gvt';
/** The views below the lanes. */
export type ViewId =
  | 'cluster'
  | 'overview'
  | 'timeline'
  | 'simulation'
  | 'events'
  | 'animation'
  | 'regions'
  | 'nodes'
  | 'compare'
  | 'sql';
export type Theme = 'system' | 'light' | 'dark';

export const AXES: readonly AxisKind[] = ['real', 'wall', 'virtual', 'gvt'];
export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

export interface ViewState {
  /** Id of the view below the lanes; '': the recording's first. */
  readonly view: string;
  /** '': the recording's own. */
  readonly axis: AxisKind | '';
  /** Window in seconds of real time, whatever the axis; null: all (of a run that is followed: its newest part). */
  readonly from: number | null;
  readonly to: number | null;
  /** PE that is looked at alone; null: all. */
  readonly pe: number | null;
  /** Metric of the chosen view, `table.key`; '': the view's own choice. */
  readonly metric: string;
  /** Entities drilled into, outermost first, such as `3/17`; '': the top. */
  readonly path: string;
  /** Order of rows; '': the view's own choice. */
  readonly sort: string;
  /** Id of the recording that is shown; '': the first. */
  readonly recording: string;
  /** Id of the recording that it is compared with; '': none. */
  readonly compare: string;
  readonly theme: Theme;
  /** What single views keep for themselves: `VIEW.NAME`, such as `simulation.scale`. */
  readonly more: Readonly<Record<string, string>>;
}

export const START: ViewState = {
  view: '',
  axis: '',
  from: null,
  to: null,
  pe: null,
  metric: '',
  path: '',
  sort: '',
  recording: '',
  compare: '',
  theme: 'system',
  more: {},
};

const TEXTS = ['view', 'metric', 'path', 'sort', 'recording', 'compare'] as const;
const NUMBERS = ['from', 'to', 'pe'] as const;

/** The state as the part of an address after `#`, without it. */
export function write(state: ViewState): string {
  const query = new URLSearchParams();
  for (const key of [...TEXTS, 'axis', 'theme'] as const) {
    if (state[key] !== START[key]) query.set(key, state[key]);
  }
  for (const key of NUMBERS) {
    const value = state[key];
    if (value !== null) query.set(key, String(Number(value.toPrecision(12))));
  }
  for (const [key, value] of Object.entries(state.more)) if (value !== '') query.set(key, value);
  // Legible where the address allows it.
  return query.toString().replaceAll('%2F', '/').replaceAll('%2C', ',');
}

const oneOf = <T extends string>(values: readonly T[], value: string | null, fallback: T): T =>
  values.find((one) => one === value) ?? fallback;

function number(query: URLSearchParams, key: string): number | null {
  const text = query.get(key);
  const value = Number(text);
  return text === null || text === '' || !Number.isFinite(value) ? null : value;
}

/** The state that `hash` (with or without `#`) speaks of. What makes no sense in it is left at its default. */
export function read(hash: string): ViewState {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const texts = Object.fromEntries(TEXTS.map((key) => [key, query.get(key) ?? START[key]]));
  let [from, to] = [number(query, 'from'), number(query, 'to')];
  if (from === null || to === null || !(to > from)) [from, to] = [null, null];
  const pe = number(query, 'pe');
  return {
    ...START,
    ...texts,
    axis: oneOf<AxisKind | ''>(AXES, query.get('axis'), START.axis),
    theme: oneOf(THEMES, query.get('theme'), START.theme),
    from,
    to,
    pe: pe !== null && Number.isInteger(pe) && pe >= 0 ? pe : null,
    more: Object.fromEntries([...query].filter(([key]) => key.includes('.'))),
  };
}
