/** Scrolls to a part of the page that may not exist yet. */
import { tick } from 'svelte';
import { asking } from './asked.svelte.ts';

/** Milliseconds to wait for it, and for the parts above it to have their height. */
const MOST_WAIT_MS = 5000;
/** Pixels above it that the page's head covers. */
const HEAD = 12;

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

function show(element: Element): void {
  const head = document.querySelector('.top')?.getBoundingClientRect().height ?? 0;
  const { top } = element.getBoundingClientRect();
  scrollTo({ top: scrollY + top - head - HEAD });
}

/** `ids`: of elements; the first one that appears is shown. If the user scrolls meanwhile, nothing is scrolled. */
export async function intoView(ids: readonly string[]): Promise<void> {
  const end = performance.now() + MOST_WAIT_MS;
  let isLeft = false;
  const leave = () => {
    isLeft = true;
  };
  for (const kind of ['wheel', 'touchmove', 'keydown']) addEventListener(kind, leave);
  await tick();
  for (let quiet = 0; quiet < 3 && performance.now() < end && !isLeft; ) {
    const element = ids.map((id) => document.getElementById(id)).find((one) => one !== null);
    if (element) show(element);
    quiet = element && asking.count === 0 ? quiet + 1 : 0;
    await frame();
  }
  for (const kind of ['wheel', 'touchmove', 'keydown']) removeEventListener(kind, leave);
}
