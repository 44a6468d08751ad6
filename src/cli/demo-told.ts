/** What the tour says of its recordings. */
import { findAll } from '../findings/index.ts';
import { HANDLED_RATE, meanOver, ROLLED_BACK_SHARE, sqlOf } from '../model/measures/index.ts';
import { openRecording } from '../query/index.ts';
import { compareRecordings } from '../report/index.ts';
import { figure, table } from './table.ts';

const PES = `SELECT pe_id AS pe, any_value(host) AS host, any_value(cpu) AS cpu,
  ${sqlOf(HANDLED_RATE)} AS "events/s", ${sqlOf(ROLLED_BACK_SHARE)} AS "rolled back %",
  100 * ${meanOver('"user"')} AS "CPU user %", 100 * ${meanOver('waiting')} AS "waiting for CPU %"
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;
const REGIONS = 'SELECT path, "count" AS visits, runtime FROM geopm_inside ORDER BY runtime DESC';

interface RegionRow {
  readonly path: string;
  readonly visits: number;
  /** Seconds in it, summed over the threads. */
  readonly runtime: number;
}

/** Prints what `pe_on_node` and the findings say of the recording. */
export async function explain(path: string) {
  const recording = await openRecording(path);
  try {
    const pes = await recording.query(PES);
    const regions = await recording.query<RegionRow>(REGIONS);
    const findings = await findAll(recording, { path });
    const lines = [
      ...table(
        Object.keys(pes[0] ?? {}),
        pes.map((row) =>
          Object.values(row).map((v) => (typeof v === 'number' ? figure(v) : String(v))),
        ),
      ),
      ...table(
        ['region', 'visits', 'seconds of both threads'],
        regions.map(({ path, visits, runtime }) => [path, figure(visits), runtime.toFixed(3)]),
      ),
      ...findings.map((f) => f.sentence),
    ];
    return { pes, findings, lines };
  } finally {
    await recording.close();
  }
}

/** Why B took longer than A, or less long. */
export async function whyOf(a: string, b: string): Promise<string> {
  const { explanation } = await compareRecordings(a, b);
  return explanation?.sentence ?? 'What time was spent on was not recorded.';
}
