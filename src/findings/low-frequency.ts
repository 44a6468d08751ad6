/** Processors that ran below their nominal frequency: a power limit, heat, or a governor. */
import { asRows, expecting, type FindingRule, OWN, percent, short } from './finding.ts';

const LOW = {
  value: 0.9,
  unit: 'share',
  means: 'of the nominal frequency or less: notice',
  source: `${OWN}; the share is GEOPM’s frequency (%)`,
};
const VERY_LOW = { value: 0.7, unit: 'share', means: 'or less: problem', source: OWN };
const LONG = { value: 0.5, unit: 's', means: 'of application time at least', source: OWN };

const SQL = `SELECT host, frequency_percent / 100 AS share, frequency AS hz, sync_runtime AS seconds
FROM geopm_region WHERE section = 'application' AND frequency_percent > 0 ORDER BY share, host`;

interface HostRow {
  readonly host: string;
  readonly share: number;
  readonly hz: number | null;
  readonly seconds: number | null;
}

export const LOW_FREQUENCY: FindingRule = {
  name: 'low-frequency',
  title: 'processors throttled below their nominal frequency',
  looks:
    'Compares the mean frequency of each host’s processors, while the application ran, with their nominal frequency.',
  needs: ['frequency_percent', 'frequency', 'sync_runtime', 'section'].map(
    (column) => `geopm_region.${column}`,
  ),
  thresholds: { LOW, VERY_LOW, LONG },
  knob: 'Look for a power limit (signal read CPU_POWER_LIMIT_CONTROL board 0), overheating, or a power-saving governor (scaling_governor).',
  async run({ recording }) {
    const rows = await recording.query<HostRow>(SQL);
    return rows
      .filter(({ share, seconds }) => share <= LOW.value && (seconds ?? 0) >= LONG.value)
      .map(({ host, share, hz }) => ({
        severity: share <= VERY_LOW.value ? ('problem' as const) : ('notice' as const),
        sentence: `${host} ran at ${percent(share)} of its nominal frequency${hz === null ? '' : ` (${short(hz / 1e9)} GHz)`}.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        ...expecting(
          this.knob,
          1 - share,
          'at its nominal frequency, of work that its clock bounds',
        ),
      }));
  },
};
