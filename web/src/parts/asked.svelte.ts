/** An answer that is waited for: the last one stays until the next is there. */
import { untrack } from 'svelte';

class Asking {
  /** Requests of the whole page that are under way. */
  count = $state(0);
}
export const asking = new Asking();

export class Asked<T> {
  value = $state.raw<T | null>(null);
  /** Of the last request; '' where it was answered. */
  error = $state('');
  busy = $state(false);
  private next: (() => Promise<T>) | null = null;
  private running = false;

  /**
   * Asks; while a request is under way, only the newest that comes meanwhile is remembered. In an effect, read what the
   * request depends on before, not inside of `request`: nothing read here makes the effect run again.
   */
  ask(request: () => Promise<T>): void {
    this.next = request;
    // Else the effect would depend on the count of requests, which it changes, and ask everything twice.
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
