/** The page's state, kept in the address. */
import { read, type ViewState, write } from './state.ts';

/** What of the state makes a step that “back” undoes; the rest replaces the address as it is. */
const STEPS: readonly (keyof ViewState)[] = ['view', 'axis', 'path', 'recording', 'compare'];

export class ViewStore {
  now = $state.raw<ViewState>(read(location.hash));

  constructor() {
    const again = () => {
      this.now = read(location.hash);
    };
    addEventListener('popstate', again);
    addEventListener('hashchange', again);
  }

  set(change: Partial<ViewState>): void {
    const before = this.now;
    const after = { ...before, ...change };
    const hash = write(after);
    this.now = after;
    if (hash === write(before)) return;
    const address = hash === '' ? location.pathname + location.search : `#${hash}`;
    if (STEPS.some((key) => before[key] !== after[key])) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
  }

  /** What a view keeps for itself; `key` is `VIEW.NAME`. '' where nothing was set. */
  more(key: string): string {
    return this.now.more[key] ?? '';
  }

  setMore(key: string, value: string): void {
    this.set({ more: { ...this.now.more, [key]: value } });
  }
}
