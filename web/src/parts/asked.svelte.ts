/** An answer that is being requested: the last one stays until the next has arrived. */
import { untrack } from 'svelte';

class Asking {
  /** Requests of the whole page that are under way. */
  count = $state(0);
}
export const asking = new Asking();

export class Asked<T> {
  value = $state.raw<T | null>(null);
  /** Error of the last request; '' if it was answered. */
  error = $state('');
  busy = $state(false);
  private next: (() => Promise<T>) | null = null;
  private running = false;

  /**
   * Sends a request. While one is under way, only the newest that comes meanwhile is remembered. In an effect, read what the
   * request depends on before, not inside of `request`: nothing read here makes the effect run again.
   */
  ask(request: () => Promise<T>): void {
    this.next = request;
    // Otherwise the effect would depend on the number of requests, which it changes, and would send everything twice.
    if (!this.running) untrack(() => void this.run());
  }

  private async run(): Promise<void> {
    this.running = true;
    this.busy = true;
    asking.count++;
    while (this.next !== null) {
      const request = this.next;
      this.next = null;
      try {
        this.value = await request();
        this.error = '';
      } catch (error) {
        this.error = error instanceof Error ? error.message : String(error);
      }
    }
    this.running = false;
    this.busy = false;
    asking.count--;
  }
}
