/**
 * `2026-11-21T01:56:58.346487912+0000`: a time in the format of GEOPM's reports, local time.
 * @param wall ns since 1970
 */
export function startTimeText(wall: bigint): string {
  const date = new Date(Number(wall / 1_000_000n));
  const two = (n: number) => String(n).padStart(2, '0');
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const fraction = String(wall % 1_000_000_000n).padStart(9, '0');
  return `${day}T${time}.${fraction}${zone}`;
}
