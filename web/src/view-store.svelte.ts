/** The page's state, kept in the address. */
import { read, type ViewState, write } from './state.ts';

/** Parts of the state whose change is a step that “back” undoes; other changes replace the address. */
const STEPS: readonly (keyof ViewState)[] = [
  ...(['view', 'axis', 'path', 'recording', 'compare', 'pe', 'metric'] as const),
];
/** A change of the window is a step, too, but dragging, turning or pressing in one go is a single step: */
const WINDOW: readonly (keyof ViewState)[] = ['from', 'to'];
/** milliseconds without a change after which the next change is another step. */
const PAUSE_MS = 800;

/** Milliseconds between changes of the address while a brush is dragged: browsers limit their number. */
const PERIOD_MS = 200;

export class ViewStore {
  now = $state.raw<ViewState>(read(location.hash));

  /** When the address was last replaced, and what it is to be next; null: it is up to date. */
  private written = Number.NEGATIVE_INFINITY;
  private waiting: string | null = null;
  /** When the window was changed last. */
  private moved = Number.NEGATIVE_INFINITY;

  constructor() {
    const again = () => {
      this.waiting = null;
      this.moved = Number.NEGATIVE_INFINITY;
      // Both events come for one step; if nothing differs, it is no change.
      const now = read(location.hash);
      if (write(now) !== write(this.now)) this.now = now;
    };
    addEventListener('popstate', again);
    addEventListener('hashchange', again);
  }

  /** @param step whether “back” undoes it, whatever it changes */
  set(change: Partial<ViewState>, step = false): void {
    const before = this.now;
    const hash = write({ ...before, ...change });
    // The text in the address, to the last digit: its link draws the same pixels.
    const after = read(hash);
    this.now = after;
    if (hash === write(before)) return;
    const address = hash === '' ? location.pathname + location.search : `#${hash}`;
    const differs = (key: keyof ViewState) => before[key] !== after[key];
    const isMove = WINDOW.some(differs);
    const isStep =
      step || STEPS.some(differs) || (isMove && performance.now() - this.moved > PAUSE_MS);
    if (isMove) this.moved = performance.now();
    if (isStep) {
      this.replace();
      history.pushState(null, '', address);
      return;
    }
    const isTimed = this.waiting !== null;
    this.waiting = address;
    const since = performance.now() - this.written;
    const isDragged = Object.keys(change).every((key) => key === 'from' || key === 'to');
    if (!isDragged || since > PERIOD_MS) this.replace();
    else if (!isTimed) setTimeout(() => this.replace(), PERIOD_MS - since);
  }

  private replace(): void {
    if (this.waiting === null) return;
    history.replaceState(null, '', this.waiting);
    this.waiting = null;
    this.written = performance.now();
  }

  /** What a view keeps for itself; `key` is `VIEW.NAME`. '' if nothing was set. */
  more(key: string): string {
    return this.now.more[key] ?? '';
  }

  setMore(key: string, value: string, step = false): void {
    this.set({ more: { ...this.now.more, [key]: value } }, step);
  }
}
