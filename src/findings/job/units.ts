/** Units of raw keys: a number before a unit multiplies the value, and KB are 1024 B; all others stay as they are. */

interface RawUnit {
  /** What a value is multiplied with. */
  readonly times: number;
  /** The unit after that; '' for a bare number. */
  readonly unit: string;
}

/** `512B` is 512 times B, `KB` 1024 times B; `kB` (process sizes), cs, ms, us and mJ are not converted, as in the original. */
export function unitOf(text: string): RawUnit {
  const match = /^(\d+)([A-Za-z].*)$/.exec(text);
  if (match !== null) return { times: Number(match[1]), unit: match[2] };
  return text === 'KB' ? { times: 1024, unit: 'B' } : { times: 1, unit: text };
}
