/** Hosts on which everything stands still because of a lack of memory or I/O. */
import { OWN, percent } from './finding.ts';
import { hostRule, shareOfTime } from './host-rule.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of the time all processes that were not idle waited: notice',
  source: `${OWN}: short waits, as when results are written, are normal`,
};
const MUCH = { value: 0.3, unit: 'share', means: 'of the time: problem', source: OWN };

const rule = (resource: 'memory' | 'io', what: string, knob: string) =>
  hostRule({
    name: `host-${resource}-pressure`,
    title: `hosts that stand still because of a lack of ${what}`,
    looks: `The share of time in which all processes that were not idle waited for ${what}, as the kernel measures it (pressure stall information).`,
    needs: [`node_psi_rate.${resource}_full`],
    sql: shareOfTime('node_psi_rate', `${resource}_full`),
    thresholds: { SOME, MUCH },
    some: SOME,
    much: MUCH,
    knob,
    says: ({ host, value }) =>
      `Nothing ran on ${host} for ${percent(value)} of the time: all waited for ${what}`,
  });

export const HOST_MEMORY_PRESSURE = rule(
  'memory',
  'memory',
  'Use less memory on each host: fewer processes, more hosts, a higher memory limit of the job.',
);
export const HOST_IO_PRESSURE = rule(
  'io',
  'I/O',
  'Write less often and in larger pieces, to a local or a parallel file system; spread jobs that write over more hosts.',
);
