/** The properties of every view. */
import type { Page } from '../page.svelte.ts';

export interface ViewProps {
  /**
   * `page.facts`, `page.state`, `page.source`, `page.window`, `page.axis`, `page.tick`, `page.live` …: see Page. When a
   * view is shown, facts and source exist; window is null before the first samples.
   */
  readonly page: Page;
}
