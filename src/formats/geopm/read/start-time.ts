/** When a run of GEOPM began, according to its files. */
const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([+-]\d\d):?(\d\d)$/;

/**
 * Nanoseconds since 1970 of `2026-11-21T01:56:58.346487912+0000`. Null for the texts of old versions, such as
 * `Mon Aug 17 20:01:41 2020`, which do not say which time zone is meant.
 */
export function startTimeNs(text: string): bigint | null {
  const match = ISO.exec(text.trim());
  if (match === null) return null;
  const [, moment, fraction = '', hours, minutes] = match;
  const milliseconds = Date.parse(`${moment}${hours}:${minutes}`);
  if (Number.isNaN(milliseconds)) return null;
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
