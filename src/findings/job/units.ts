/** Units of raw keys: a number before the unit multiplies the value, and KB is 1024 B; other units are not converted. */

interface RawUnit {
  /** Factor for the value. */
  readonly times: number;
  /** The unit after the conversion; '' for a bare number. */
  readonly unit: string;
}

/** `512B` is 512 times B, `KB` 1024 times B; `kB` (process sizes), cs, ms, us and mJ are not converted, as in tacc_stats. */
export function unitOf(text: string): RawUnit {
  const match = /^(\d+)([A-Za-z].*)$/.exec(text);
  if (match !== null) return { times: Number(match[1]), unit: match[2] };
  return text === 'KB' ? { times: 1024, unit: 'B' } : { times: 1, unit: text };
}
