/** NFS 4 servers with long response times. */
import { OWN, short, whole } from './finding.ts';
import { hostRule } from './host-rule.ts';

/** Operations for which programs wait: data, and files that are opened and looked up. */
export const NFS_WAITS = ['READ', 'WRITE', 'COMMIT', 'OPEN', 'LOOKUP', 'GETATTR'];

const SOME = {
  value: 50,
  unit: 'ms',
  means: 'a request from being sent to its answer, on average: notice',
  source: `${OWN}: a disk’s seek, and a few in its queue`,
};
const MUCH = { value: 250, unit: 'ms', means: 'a request: problem', source: OWN };
/** Requests of a mount: fewer are too few to judge. */
export const FEW = {
  value: 100,
  unit: '{request}',
  means: 'of a mount at least: fewer prove nothing',
  source: OWN,
};

/** The sum, exact as counted. */
const sum = (what: string) =>
  `round(sum((${NFS_WAITS.map((name) => `"${name}_${what}"`).join(' + ')}) * (t - t0)))`;

export const SLOW_NFS = hostRule({
  name: 'slow-nfs',
  title: 'servers of NFS that answer late',
  looks: `Measures the mean time between a request to an NFS 4 server and its answer (${NFS_WAITS.join(', ')}), for each mount.`,
  needs: NFS_WAITS.flatMap((name) =>
    ['ops', 'rtt'].map((what) => `node_nfs4_rate.${name}_${what}`),
  ),
  sql: `SELECT host, device, ${sum('rtt')} / ${sum('ops')} AS value, ${sum('ops')} AS requests
FROM node_nfs4_rate GROUP BY host, device HAVING ${sum('ops')} >= ${FEW.value}
ORDER BY value DESC, host, device`,
  thresholds: { SOME, MUCH, FEW },
  some: SOME,
  much: MUCH,
  knob: 'Ask who else keeps the server busy; read and write larger blocks of fewer files, or use local scratch. Where few hosts see it, look at their network (nfsiostat, retransmissions in node_nfs4).',
  says: ({ host, device, value }) =>
    `The server of ${device} answered ${host} after ${value < 100 ? short(value) : whole(value)} ms on average`,
});
