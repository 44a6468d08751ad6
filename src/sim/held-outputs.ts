/** Lines that uncommitted events have printed: kept with each event, until it commits or is undone. */
import type { OutputLine } from './pe.ts';

export class HeldOutputs {
  private readonly lines = new Map<number, OutputLine[]>();

  /** Event `h` has printed `line`. */
  add(h: number, line: OutputLine): void {
    const lines = this.lines.get(h);
    if (lines === undefined) this.lines.set(h, [line]);
    else lines.push(line);
  }

  /** Removes the lines of event `h`, and returns them. */
  take(h: number): readonly OutputLine[] {
    const lines = this.lines.get(h) ?? [];
    this.lines.delete(h);
    return lines;
  }
}
