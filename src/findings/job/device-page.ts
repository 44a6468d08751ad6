/** The table of one type: every key of every device of every host. */
import { JobNotFoundError } from './errors.ts';
import type { Job } from './job.ts';
import { inUnit, type Verdicts } from './type-table.ts';

export interface DeviceRow {
  readonly host: string;
  /** `all`: the sum over the host's devices. */
  readonly device: string;
  readonly key: string;
  readonly kind: 'event' | 'gauge' | 'control';
  readonly unit: string;
  /** The counted amount in `unit`: exact, as digits. Null for gauges and controls. */
  readonly total: string | null;
  /** `total` divided by the seconds of the host's own records; also null if there is only one record. */
  readonly rate: number | null;
  /** For gauges and controls. */
  readonly first: number | null;
  readonly last: number | null;
  readonly least: number | null;
  readonly most: number | null;
  /** For the row of a host's sum. */
  readonly verdicts: Verdicts | null;
}

const numberOrNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** The types of a job, sorted by name. */
const typesOf = (job: Job): string[] =>
  [...new Set(job.hosts.flatMap(({ types }) => [...types.keys()]))].sort();

/** @throws JobNotFoundError if the job does not have this type */
export function devicePage(job: Job, type: string): readonly DeviceRow[] {
  const types = typesOf(job);
  if (!types.includes(type)) {
    throw new JobNotFoundError(
      `job ${job.id} has no records of type ${type}; it has ${types.join(', ')}`,
    );
  }
  const rows: DeviceRow[] = [];
  for (const { host, types: tables } of job.hosts) {
    const table = tables.get(type);
    if (table === undefined) continue;
    const seconds = (table.times.at(-1) ?? 0) - (table.times[0] ?? 0);
    for (const key of table.keys.values()) {
      const { name, kind, unit, times, verdicts } = key;
      const facts = { host, key: name, kind, unit };
      const counted = (total: bigint) => ({
        total: kind === 'event' ? String(total * BigInt(times)) : null,
        rate: kind === 'event' && seconds > 0 ? inUnit(key, total) / seconds : null,
      });
      const none = { first: null, last: null, least: null, most: null };
      if (kind === 'event') {
        rows.push({ ...facts, device: 'all', ...counted(key.total), ...none, verdicts });
      }
      for (const [device, of] of key.devices) {
        const seen = {
          first: numberOrNull(of.first * times),
          last: numberOrNull(of.last * times),
          least: numberOrNull(of.least * times),
          most: numberOrNull(of.most * times),
        };
        rows.push({ ...facts, device, ...counted(of.total), ...seen, verdicts: null });
      }
    }
  }
  return rows;
}
