/** Energy for each committed event. */
import { asRows, type FindingRule, type Subject, short, whole } from './finding.ts';
import { totalsOf } from './samples.ts';

const REPORT = `SELECT host, package_energy AS joules FROM geopm_region
WHERE section = 'application' AND package_energy > 0 ORDER BY host`;

interface Energy {
  readonly joules: number;
  readonly from: string;
  readonly sql: string;
  readonly rows: readonly object[];
}

/** From the region report, or else from the node's counters; null if neither has energies. */
async function energyOf({ recording, has, jobs }: Subject): Promise<Energy | null> {
  if (has('geopm_region.package_energy') && has('geopm_region.section')) {
    const rows = await recording.query<{ joules: number }>(REPORT);
    const joules = rows.reduce((sum, row) => sum + row.joules, 0);
    if (joules > 0) return { joules, from: 'the region report', sql: REPORT, rows };
  }
  const metric = (await jobs())[0]?.metric('triscope', 'energy_package');
  const joules = metric?.value ?? 0;
  if (!metric || joules <= 0) return null;
  return { joules, from: 'the node’s counters', sql: '', rows: metric.inputs };
}

export const ENERGY_PER_EVENT: FindingRule = {
  name: 'energy-per-event',
  title: 'energy per committed event',
  looks:
    'Divides the energy of the processor packages by the number of committed events. Events that were rolled back cost energy but do not count.',
  needs: [],
  thresholds: {},
  knob: '',
  async run(subject) {
    const { processed, undone } = await totalsOf(subject);
    const net = processed - undone;
    if (net <= 0) return { lacks: 'committed events' };
    const energy = await energyOf(subject);
    if (energy === null) return { lacks: 'energy of the packages' };
    const { joules, from, sql, rows } = energy;
    const each = joules / net;
    const text = each < 0.1 ? `${short(each * 1e6)} µJ` : `${short(each)} J`;
    return [
      {
        severity: 'info',
        sentence: `A committed event took ${text}: ${short(joules)} J by ${from} for ${whole(net)} events.`,
        evidence: { sql, rows: asRows(rows), formula: 'joules / (handled − rolled back)' },
        advice: '',
      },
    ];
  },
};
