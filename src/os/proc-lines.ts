/** Values in files with lines `key: value` or `key value`, such as /proc/PID/status, io and cpu.stat. */

/** The value of `key` in lines `key: value` or `key value`, as of `status`, `io`, `cpu.stat`; null if it is missing. */
export function lineOf(text: string, key: string): string | null {
  const at = text.startsWith(key) ? 0 : text.indexOf(`\n${key}`) + 1;
  if (at === 0 && !text.startsWith(key)) return null;
  const end = text.indexOf('\n', at);
  const rest = text.slice(at + key.length, end < 0 ? undefined : end);
  return /^[:\s]/.test(rest) ? rest.replace(/^:?\s*/, '') : null;
}

/** The whole number that a value begins with; null if there is none. */
export function countOf(text: string, key: string): bigint | null {
  const digits = /^\d+/.exec(lineOf(text, key) ?? '');
  return digits === null ? null : BigInt(digits[0]);
}
