/** Processors that draw as much power as a limit allows that somebody set below their design power. */
import { OWN, percent } from './finding.ts';
import { hostRule } from './host-rule.ts';

const SOME = {
  value: 0.9,
  unit: 'share',
  means: 'of its limit, on average, is what a package draws: notice',
  source: `${OWN}: the kernel keeps the average at the limit; peaks are cut before`,
};
const MUCH = {
  value: 0.97,
  unit: 'share',
  means: 'of its limit: problem',
  source: `${OWN}: it is held down nearly all the time`,
};
/** Every busy processor reaches a limit at the design power: that is no problem. */
export const LOWERED = {
  value: 0.98,
  unit: 'share',
  means: 'of the package’s design power or less is the limit: others do not count',
  source: `${OWN}: limits that nobody has lowered are that power, rounded`,
};

export const POWER_LIMIT = hostRule({
  name: 'power-limit',
  title: 'processors held down by a lowered power limit',
  looks:
    'Compares the power that each package draws on average with the limit that somebody has set for it (powercap), if that is below the processor’s design power.',
  needs: [
    'node_powercap_limit_rate.energy',
    'node_powercap_limit.limit',
    'node_powercap_limit.nominal',
  ],
  // Microjoules a second divided by microwatts.
  sql: `SELECT host, device, sum(r.energy * (r.t - r.t0)) / sum(z."limit" * (r.t - r.t0)) AS value,
  avg(z."limit") / 1e6 AS limit_watts, avg(z.nominal) / 1e6 AS nominal_watts
FROM node_powercap_limit_rate AS r JOIN node_powercap_limit AS z USING (host, device, t)
WHERE r.energy IS NOT NULL AND z."limit" > 0 AND z."limit" <= ${LOWERED.value} * z.nominal
GROUP BY host, device ORDER BY value DESC, host, device`,
  thresholds: { SOME, MUCH, LOWERED },
  some: SOME,
  much: MUCH,
  knob: 'Raise the limit (signal write, GEOPM, or /sys/class/powercap/…/constraint_0_power_limit_uw), or spread the work over more hosts; where the site limits its power on purpose, expect longer runs.',
  says: ({ host, device, value }) =>
    `Package ${device} of ${host} drew ${percent(value)} of a power limit below what it is made for`,
});
