/** `2026-11-21T01:56:58.346487912+0000`: this moment, as GEOPM's reports have it, in local time. */
export function startTimeText(): string {
  const now = new Date();
  const two = (n: number) => String(n).padStart(2, '0');
  const offset = -now.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`;
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
  const fraction = String(now.getMilliseconds()).padStart(3, '0');
  return `${day}T${time}.${fraction}000000${zone}`;
}
