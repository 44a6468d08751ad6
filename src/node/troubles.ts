/** Reports a lasting fault only when it begins, when its reason changes, and when it ends. */
export class Troubles {
  private readonly say: (line: string) => void;
  private readonly reasons = new Map<string, string>();

  constructor(say: (line: string) => void) {
    this.say = say;
  }

  /** `reason`: why `what` does not work now; null if it works. */
  about(what: string, reason: string | null): void {
    const before = this.reasons.get(what) ?? null;
    if (reason === before) return;
    if (reason === null) {
      this.reasons.delete(what);
      this.say(`${what}: works again`);
    } else {
      this.reasons.set(what, reason);
      this.say(`${what}: ${reason}`);
    }
  }
}
