/** Followers at a time. */
const MOST_FOLLOWERS = 256;

export class Seats {
  /** Followers there are. */
  taken = 0;

  /** What to call when the follower leaves; null where there is no room. */
  take(): (() => void) | null {
    if (this.taken >= MOST_FOLLOWERS) return null;
    this.taken++;
    let here = true;
    return () => {
      if (here) this.taken--;
      here = false;
    };
  }
}
