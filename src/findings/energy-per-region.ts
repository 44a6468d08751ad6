/** Which regions used the energy, and which of them used it while they waited. */
import { asRows, type FindingParts, type FindingRule, OWN, percent, short } from './finding.ts';

const WAITS = {
  value: 0.5,
  unit: 'share',
  means: 'of a region’s time has the hint network or spin: the region counts as waiting',
  source: 'GEOPM’s hints, which its frequency agents act upon',
};
const PART = {
  value: 0.1,
  unit: 'share',
  means: 'of the energy is spent in waiting regions: notice',
  source: OWN,
};

const sql = (
  waiting: string,
) => `SELECT host, section, region, package_energy AS joules, sync_runtime AS seconds,
  package_energy / nullif(sync_runtime, 0) AS watts,
  package_energy / sum(package_energy) OVER (PARTITION BY host) AS part, ${waiting} AS waiting
FROM geopm_region WHERE section IN ('region', 'unmarked') AND package_energy > 0
ORDER BY package_energy DESC, host, region`;

const HINTS = ['time_hint_network', 'time_hint_spin'];

interface RegionRow {
  readonly host: string;
  readonly section: string;
  readonly region: string;
  readonly joules: number;
  readonly watts: number | null;
  readonly part: number;
  readonly waiting: number | null;
}

const nameOf = ({ section, region, host }: RegionRow) =>
  `${section === 'unmarked' ? 'unmarked code' : `region ${region}`} on ${host}`;

export const ENERGY_PER_REGION: FindingRule = {
  name: 'energy-per-region',
  title: 'energy by region',
  looks:
    'Ranks regions by the energy of the processor packages, and adds up the energy of those that mostly wait.',
  needs: ['geopm_region.package_energy', 'geopm_region.sync_runtime', 'geopm_region.section'],
  thresholds: { WAITS, PART },
  knob: 'Lower the frequency in those regions, where it does not matter: region launch --geopm-agent=frequency_map.',
  async run({ recording, has }) {
    const hints = HINTS.filter((hint) => has(`geopm_region.${hint}`));
    const time = hints.map((hint) => `coalesce(${hint}, 0)`).join(' + ') || 'NULL';
    const query = sql(`(${time}) / nullif(sync_runtime, 0)`);
    const rows = await recording.query<RegionRow>(query);
    const all = rows.reduce((sum, { joules }) => sum + joules, 0);
    if (all === 0) return [];
    const evidence = { sql: query, rows: asRows(rows) };
    const [most] = rows;
    const found: FindingParts[] = [
      {
        severity: 'info',
        sentence: `${short(all)} J: most in ${nameOf(most)}, ${short(most.joules)} J (${percent(most.joules / all)}) at ${short(most.watts ?? 0)} W.`,
        evidence,
        advice: '',
      },
    ];
    const waiting = rows.filter((row) => (row.waiting ?? 0) >= WAITS.value);
    const burnt = waiting.reduce((sum, { joules }) => sum + joules, 0);
    if (burnt / all >= PART.value) {
      found.push({
        severity: 'notice',
        sentence: `${short(burnt)} J (${percent(burnt / all)}) went into ${waiting.map(nameOf).join(', ')}, where programs mostly wait.`,
        evidence,
        advice: this.knob,
      });
    }
    return found;
  },
};
