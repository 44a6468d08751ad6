/** `lp-mapping.txt`: where each LP is. Lines `PE,KP,LP,type`, as ROSS's reader expects them; `LP PE KP` in older recordings. */

interface LpPlace {
  readonly lp: number;
  readonly pe: number;
  /** As numbered within the PE. */
  readonly kp: number;
}

const NO_LINE = /^\s*(#.*|PE,.*)?$/;
const LINE = /^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*(?:,.*)?$/;
const OLD_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s*$/;

/** The places in the file's `text`; null if it is something else. */
export function lpPlaces(text: string): LpPlace[] | null {
  const places: LpPlace[] = [];
  for (const line of text.split('\n')) {
    if (NO_LINE.test(line)) continue;
    const now = LINE.exec(line);
    const before = now === null ? OLD_LINE.exec(line) : null;
    if (now !== null) places.push({ pe: Number(now[1]), kp: Number(now[2]), lp: Number(now[3]) });
    else if (before === null) return null;
    else places.push({ lp: Number(before[1]), pe: Number(before[2]), kp: Number(before[3]) });
  }
  return places;
}
