/** Waiting for what another process, thread or page does: for the event itself, as long as a busy machine may take. */

const POLL = 20;

/** Waits until `is` says so. @throws Error once `seconds` have passed */
export async function until(is: () => boolean | Promise<boolean>, seconds = 120): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`waited in vain for ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}
