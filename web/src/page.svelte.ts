/** What all views share: the recording, the window, the crosshair, and the state in the address. */
import { getContext, setContext } from 'svelte';
import { byFrom, type Flag } from '../../src/view/facts/flag.ts';
import type { RecordingEntry, Refused, ServedFacts } from '../../src/view/facts/served.ts';
import type { TableFacts } from '../../src/view/series/store.ts';
import { type Axis, axisFor, type Clock, VIRTUAL } from './axis.ts';
import type { PageSource } from './source.ts';
import type { AxisKind, ViewId } from './state.ts';
import { ViewStore } from './view-store.svelte.ts';

/** `none`: a recording, no connection is needed. */
export type Connection = 'none' | 'connecting' | 'open' | 'lost' | 'refused';

/** Seconds that are shown of a run that is followed. */
const FOLLOWED_SECONDS = 30;

export class Page {
  readonly state = new ViewStore();
  facts = $state.raw<ServedFacts | null>(null);
  /** All that the server shows, this one among them. */
  recordings = $state.raw<readonly RecordingEntry[]>([]);
  /** Paths that the server was to show and cannot. */
  refused = $state.raw<readonly Refused[]>([]);
  tables = $state.raw<readonly TableFacts[]>([]);
  clock = $state.raw<Clock | null>(null);
  /** First and last second of all that can be drawn; null before the first samples. */
  extent = $state.raw<readonly [number, number] | null>(null);
  connection = $state<Connection>('none');
  /** Whether a live run's newest part is shown. */
  following = $state(true);
  /** Frames that did not come because this page was too slow. */
  dropped = $state(0);
  /** Grows when there are new samples to draw. Read it where data is asked for. */
  tick = $state(0);
  /** Second under the crosshair, in whatever chart; null: none. */
  crosshair = $state<number | null>(null);
  /** When a saved page was saved; '' for one that a server shows. */
  saved = $state('');
  /** Of a saved page: the window that it was saved with. */
  kept = $state.raw<readonly [number, number] | null>(null);
  /** Whether what was saved was a run that went on. */
  wasLive = $state(false);
  /** Nothing new is taken in for a moment: the page is being saved. */
  held = $state(false);
  /** Answers all requests for samples. Set before any view is shown. */
  source = $state.raw<PageSource | null>(null);

  /** Where what was found is. */
  found = $state.raw<readonly Flag[]>([]);
  /** Marks of a run that goes on: they come with its samples. */
  marks = $state.raw<readonly Flag[]>([]);

  readonly live = $derived(this.facts?.live === true);
  /** Notes and marks, by time. */
  readonly told: readonly Flag[] = $derived(
    [...(this.facts?.flags ?? []), ...this.marks].sort(byFrom),
  );
  /** Flags on the axis, by time. */
  readonly flags: readonly Flag[] = $derived([...this.told, ...this.found].sort(byFrom));
  /** Name of the simulated model, if the command has it; '' otherwise. */
  readonly model = $derived(/\bsim run (\S+)/.exec(this.facts?.command ?? '')?.[1] ?? '');
  /** PEs by number: from the recording's facts, else those that were sampled. */
  readonly pes: readonly number[] = $derived.by(() => {
    const said = this.facts?.pes.map(({ pe }) => pe) ?? [];
    if (said.length > 0) return said;
    return this.tables.find(({ name }) => name === 'ross_pe')?.entities.map(Number) ?? [];
  });
  /** Names of hosts: as the recording says, else those of which there are samples. */
  readonly hosts: readonly string[] = $derived.by(() => {
    const said = this.facts?.hosts.map(({ name }) => name) ?? [];
    if (said.length > 0) return said;
    const sampled = this.tables
      .filter(({ name }) => name.startsWith('node_'))
      .flatMap(({ entities }) => entities.map((entity) => entity.split('/')[0]));
    return [...new Set(sampled)];
  });
  /** The view and the axis that are shown where the address names none: of an archive its cluster, by the time of day. */
  readonly first: { readonly view: ViewId; readonly axis: AxisKind } = $derived(
    this.facts?.cluster === true
      ? { view: 'cluster', axis: 'wall' }
      : { view: 'overview', axis: 'real' },
  );
  /** Id of the view that is shown. */
  readonly view: string = $derived(this.state.now.view || this.first.view);
  readonly axisKind: AxisKind = $derived(this.state.now.axis || this.first.axis);
  readonly axis: Axis = $derived(
    this.facts?.clock === 'virtual'
      ? VIRTUAL
      : axisFor(this.axisKind, this.clock, Number(this.facts?.zero ?? 0) / 1e9),
  );
  /** Seconds that are measured: their numbers stand in a table; null: none. */
  readonly selection: readonly [number, number] | null = $derived.by(() => {
    const [from, to] = this.state.more(SELECTION).split(',').map(Number);
    return to > from ? [from, to] : null;
  });
  /** Seconds that are shown now; null before the first samples. */
  readonly window: readonly [number, number] | null = $derived.by(() => {
    const now = this.windowNow();
    const [from, to] = this.last ?? [];
    // The same window is no news to who asks for its data.
    if (now === null || now[0] !== from || now[1] !== to) this.last = now;
    return this.last;
  });
  private last: readonly [number, number] | null = null;
  /** Whether the window is a part that was brushed. */
  readonly brushed = $derived(this.state.now.from !== null);
  /** Whether the window can be changed. */
  readonly zooms = $derived(this.saved === '' || this.view === ZOOMED);
  /** First and last second that windows may show. */
  private readonly reach = $derived(this.kept ?? this.extent);
  /** Whether the window can be moved. */
  readonly isPart = $derived(
    this.zooms && this.brushed && (this.kept === null || !isSame(this.window, this.kept)),
  );

  private windowNow(): readonly [number, number] | null {
    const { from, to } = this.state.now;
    if (from !== null && to !== null) return [from, to];
    if (this.extent === null) return null;
    const [first, last] = this.extent;
    const isFollowed = this.live && this.following && this.facts?.state === 'running';
    return isFollowed ? [Math.max(first, last - FOLLOWED_SECONDS), last] : this.extent;
  }

  /**
   * Seconds that a chart shows whose data span [from, to): the window, also while its own data are on their way: what is
   * there is stretched until then. Of a run that is followed the data's, which come with each step of the window.
   */
  shown(from: number, to: number): readonly [number, number] {
    return this.window === null || (this.live && !this.brushed) ? [from, to] : this.window;
  }

  /** Goes to a view, at its top. */
  go(view: ViewId): void {
    const kept = this.kept === null ? {} : { from: this.kept[0], to: this.kept[1] };
    this.state.set({ view: view === this.first.view ? '' : view, path: '', ...kept });
  }

  /** Goes to the view of SQL, with a statement. */
  openSql(sql: string): void {
    this.state.set({ view: 'sql', path: '', more: { ...this.state.now.more, 'sql.text': sql } });
  }

  has(table: string): boolean {
    return this.tables.some(({ name }) => name === table);
  }

  /** Shows [from, to) seconds in all views. */
  brush(from: number, to: number): void {
    if (this.reach === null || !(to > from) || !this.zooms) return;
    const [first, last] = this.reach;
    this.state.set({ from: Math.max(from, first), to: Math.min(to, last) });
  }

  /** Shows all; of a live run, as it grows. */
  reset(): void {
    this.following = false;
    this.state.set({ from: this.kept?.[0] ?? null, to: this.kept?.[1] ?? null });
  }

  /** Follows a live run's newest part, or keeps the present window. */
  follow(on: boolean): void {
    if (!this.live) return;
    const shown = this.window;
    this.following = on;
    if (on) this.state.set({ from: null, to: null });
    else if (shown !== null) this.state.set({ from: shown[0], to: shown[1] });
  }

  /** A moment on the axis, as exact as a pixel of the window. */
  timeText(seconds: number): string {
    const [from, to] = (this.window ?? [0, 1]).map((s) => this.axis.of(s));
    return this.axis.text(this.axis.of(seconds), Math.max(1e-9, (to - from) / 1000));
  }

  /** Measures [from, to) seconds; null: nothing any more. */
  measure(from: number | null, to = 0): void {
    const text = (seconds: number) => String(Number(seconds.toPrecision(9)));
    this.state.setMore(SELECTION, from === null ? '' : `${text(from)},${text(to)}`);
  }

  /** Zooms by `factor`; the moment `at` stays where it is, else the crosshair, else the middle. */
  zoom(at: number | null, factor: number): void {
    if (this.window === null || this.reach === null) return;
    const [first, last] = this.reach.map((s) => this.axis.of(s));
    const [from, to] = this.window.map((s) => this.axis.of(s));
    const middle = this.axis.of(at ?? this.crosshair ?? Number.NaN);
    const fixed = middle >= from && middle <= to ? middle : (from + to) / 2;
    const wide = Math.max((to - from) * factor, NEAREST * (last - first));
    if (wide >= last - first) {
      if (this.brushed) this.reset();
      return;
    }
    this.place(fixed - ((fixed - from) * wide) / (to - from), wide);
  }

  /** For dragging from a share of the width on: what moves the window along to another share. */
  panFrom(begun: number): (share: number) => void {
    const [from, to] = (this.window ?? [0, 1]).map((s) => this.axis.of(s));
    return (share) => this.place(from - (share - begun) * (to - from), to - from);
  }

  /** Shows so much of the axis, within the run. */
  private place(begin: number, wide: number): void {
    if (this.reach === null) return;
    const [first, last] = this.reach.map((s) => this.axis.of(s));
    const from = Math.max(first, Math.min(begin, last - wide));
    this.brush(this.axis.seconds(from), this.axis.seconds(from + wide));
  }

  /** Moves the window by a share of its width, measured on the axis, after making it `factor` times as wide. */
  move(share: number, factor: number): void {
    if (this.window === null || this.reach === null) return;
    const [first, last] = this.reach.map((s) => this.axis.of(s));
    const [from, to] = this.window.map((s) => this.axis.of(s));
    const wide = Math.min((to - from) * factor, last - first);
    const middle = (from + to) / 2 + share * wide;
    this.place(middle - wide / 2, wide);
  }
}

/** The view that saved pages can be zoomed into. */
export const ZOOMED: ViewId = 'compare';

const isSame = (a: readonly number[] | null, b: readonly number[]): boolean =>
  a !== null && a[0] === b[0] && a[1] === b[1];

/** In the address. */
const SELECTION = 'page.selection';
/** Share of the run that is seen at least. */
const NEAREST = 1e-7;

const KEY = 'page';

export const providePage = (page: Page): Page => setContext(KEY, page);
/** The page, in any component of it. */
export const thePage = (): Page => getContext<Page>(KEY);
