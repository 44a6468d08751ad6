/** Sensors of a host that are nearly as hot as its parts may become. */
import { OWN, short } from './finding.ts';
import { hostRule } from './host-rule.ts';

const SOME = {
  value: 95,
  unit: '°C',
  means: 'of any sensor: notice',
  source: `${OWN}: processors of servers lower their clock from 95 to 105 °C on`,
};
const MUCH = { value: 105, unit: '°C', means: 'of any sensor: problem', source: OWN };

export const TEMPERATURE = hostRule({
  name: 'temperature',
  title: 'hosts that are too hot',
  looks: 'The highest temperature of each of the kernel’s sensors (hwmon).',
  needs: ['node_hwmon_temp.temp'],
  sql: `SELECT host, device, max(temp) / 1000 AS value FROM node_hwmon_temp WHERE temp IS NOT NULL
GROUP BY host, device ORDER BY value DESC, host, device`,
  thresholds: { SOME, MUCH },
  some: SOME,
  much: MUCH,
  knob: 'Have fans and air flow checked; programs run slower on such a host than on its neighbours.',
  says: ({ host, device, value }) => `Sensor ${device} of ${host} reached ${short(value)} °C`,
});
