/**
 * What a pointer does on a field whose width is the window. Dragging moves the window; where all is shown there is nothing
 * to move, and it chooses one. With Shift it measures. The wheel zooms at the pointer.
 */
import type { Page } from '../page.svelte.ts';

/** Pixels that are no drag yet. */
const LEAST = 4;
/** Of a turn of the wheel by one pixel: 100 are a notch. */
const ZOOM = 0.0025;
/** Milliseconds for which a wheel that scrolls the page goes on to, whatever comes below it. */
const SCROLLING_MS = 400;

export type DragKind = 'pan' | 'brush' | 'measure';

export const dragKind = (page: Page, shift: boolean): DragKind =>
  shift ? 'measure' : page.isPart ? 'pan' : 'brush';

/** Ends a drag with a stretch of seconds. */
export function chosen(page: Page, kind: DragKind, from: number, to: number): void {
  if (kind === 'measure') page.measure(from, to);
  else page.brush(from, to);
}

/** Dragging over a field of our own painting; shares are of its width. */
export class FieldDrag {
  /** The selection in progress. */
  range = $state.raw<readonly [number, number] | null>(null);
  private kind: DragKind | null = null;
  private begun = 0;
  private last = 0;
  private pan: ((share: number) => void) | null = null;
  private readonly page: Page;
  private readonly moment: (share: number) => number;

  constructor(page: Page, moment: (share: number) => number) {
    this.page = page;
    this.moment = moment;
  }

  get isOn(): boolean {
    return this.kind !== null;
  }

  press(event: PointerEvent, share: number): void {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.kind = dragKind(this.page, event.shiftKey);
    this.begun = share;
    this.last = share;
    if (this.kind === 'pan') this.pan = this.page.panFrom(share);
    else this.range = [share, share];
  }

  move(share: number): void {
    if (this.kind === null) return;
    this.last = share;
    if (this.pan !== null) this.pan(share);
    else this.range = [this.begun, share];
  }

  /** As if nothing had been pressed. */
  cancel(): void {
    this.kind = null;
    this.pan = null;
    this.range = null;
  }

  /** Whether it was a drag, on a field `width` pixels wide; else it was a click. */
  release(width: number): boolean {
    const [kind, begun, last] = [this.kind, this.begun, this.last];
    this.cancel();
    if (kind === null || Math.abs(last - begun) * width <= LEAST) return false;
    const [from, to] = [Math.min(begun, last), Math.max(begun, last)].map(this.moment);
    if (kind !== 'pan') chosen(this.page, kind, from, to);
    return true;
  }
}

/** When the page was scrolled by a wheel last. */
let scrolled = Number.NEGATIVE_INFINITY;
addEventListener(
  'wheel',
  (event) => {
    if (!event.defaultPrevented) scrolled = performance.now();
  },
  { passive: true },
);

/** The wheel zooms at the pointer, sideways it moves. Call the result to stop. */
export function turning(element: HTMLElement, page: Page, moment: (share: number) => number) {
  const turned = (event: WheelEvent) => {
    const isScrolling = performance.now() - scrolled < SCROLLING_MS && !event.ctrlKey;
    if (isScrolling || !page.zooms || page.window === null) return;
    event.preventDefault();
    const { left, width } = element.getBoundingClientRect();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      page.move(event.deltaX / width, 1);
      return;
    }
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    page.zoom(moment((event.clientX - left) / width), Math.exp(ZOOM * lines * event.deltaY));
  };
  element.addEventListener('wheel', turned, { passive: false });
  return () => element.removeEventListener('wheel', turned);
}
