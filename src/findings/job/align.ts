/**
 * One list of times for all hosts of a job, made as in tacc_stats' post-processing: the times of the host with the median
 * number of records, strictly increasing. For each host, the first and last rows are its own first and last; the rows
 * between are those nearest in time.
 */

/** The times of the median host. Times that do not increase are left out. */
export function jobTimes(hosts: readonly { readonly times: readonly number[] }[]): Float64Array {
  const byCount = hosts.map(({ times }) => times).filter((times) => times.length > 0);
  if (byCount.length === 0) return new Float64Array(0);
  byCount.sort((a, b) => a.length - b.length);
  const median = byCount[byCount.length >> 1];
  const increasing: number[] = [];
  for (const time of median) {
    if (increasing.length === 0 || time > increasing[increasing.length - 1]) increasing.push(time);
  }
  return Float64Array.from(increasing);
}

/** The row of `own` to take for each of `times`. `own` is not empty, and may step back where a clock did. */
export function rowsFor(times: Float64Array, own: readonly number[]): Int32Array {
  const rows = new Int32Array(times.length);
  const last = own.length - 1;
  let at = 0;
  for (let k = 0; k < times.length; k++) {
    while (at < last && Math.abs(own[at + 1] - times[k]) <= Math.abs(own[at] - times[k])) at++;
    rows[k] = k === 0 ? 0 : k === times.length - 1 ? last : at;
  }
  return rows;
}
