/** Where moments are on a field that is as wide as the window, which moves before its data arrive. */
import type { Page } from '../page.svelte.ts';

export class WindowScale {
  private readonly page: Page;
  private readonly span: () => readonly [number, number];
  /** Seconds at both ends of the visible part. */
  readonly shown = $derived.by(() => this.page.shown(...this.span()));
  /** The same on the page's axis. */
  readonly ends = $derived.by(() => this.shown.map((seconds) => this.page.axis.of(seconds)));

  /** @param span seconds that there are */
  constructor(page: Page, span: () => readonly [number, number]) {
    this.page = page;
    this.span = span;
  }

  /** Share of the width, 0 to 1 within the field. */
  readonly share = (seconds: number): number => {
    const [from, to] = this.ends;
    return (this.page.axis.of(seconds) - from) / (to - from);
  };

  readonly moment = (share: number): number => {
    const [from, to] = this.ends;
    return this.page.axis.seconds(from + share * (to - from));
  };
}
