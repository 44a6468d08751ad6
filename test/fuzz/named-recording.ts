/** A recording in which every name means something elsewhere. */
import { label, type Schema } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';

/** Name of a file that SQL in a name would write into the current folder. */
export const PROOF = 'hacked-by-a-name';
/** Names that mean something to SQL, HTML, JSON, paths, terminals or JavaScript. */
export const HOSTILE = [
  `x'; COPY (SELECT 1) TO '${PROOF}'; --`,
  `x"; COPY (SELECT 1) TO '${PROOF}'; --`,
  '<script>window.hacked=1</script>',
  '<img src=x onerror=window.hacked=1>',
  '"><svg onload=window.hacked=1>',
  'javascript:window.hacked=1',
  '__proto__',
  'constructor',
  'toString',
  '../../../etc/passwd',
  'a\u0000b',
  'a\u001b[2Jb',
  'a\nb\r\nc',
  '\u202eabc',
  '\ufeffabc',
  '\ud800',
  'select',
  'recording',
  'main',
  '=1+1',
  '%s%n%00',
  '{{7*7}}',
  'é😀',
  ' ',
  'x'.repeat(5000),
];

const LABELS: Schema = {
  ...{ name: 'sim_thread_note', domain: 'pe', help: 'what a thread says' },
  metrics: [{ ...ROSS_PE.metrics[0], key: 'real_time', cell: 'f64' }, label('note', 'text')],
};

/** Of two PEs. */
export const samples = [0, 1, 2, 3].flatMap((k) =>
  [0, 1].map((pe) => ({
    ...{ pe_id: pe, real_time: k + 1, mode: 'gvt', gvt: 10 * (k + 1), events_processed: 100 },
  })),
);

/** A recording at `path` in which every name is `name`. */
export function recordingWith(name: string, path: string): string {
  const json = JSON.stringify(name);
  const word = name.replace(/\s/g, '_').slice(0, 300);
  return writeFolder(path, {
    'recording.json': recordingOf({
      error: name,
      madeBy: { command: [name, name], triscope: name, node: name },
      hosts: [{ name, platform: name, arch: name, cpus: 2, cpuModel: name, memory: 1 }],
      pes: [0, 1].map((pe) => placeOf({ pe, host: name, cpu: pe })),
    }),
    'extra.frames': framesOf(
      batchOf(ROSS_PE, samples),
      batchOf(
        LABELS,
        HOSTILE.map((note, k) => ({ real_time: k, note })),
      ),
    ),
    [`node/h1/${NOON}`]: `${rawStats(word, [
      { time: NOON, cpus: [{ user: 1 }, {}] },
      { time: NOON + 1, cpus: [{ user: 50 }, {}] },
    ])}\n${NOON + 2}.000000 ${word} ${word}\n%begin ${word}\ncpu ${word} 1 2 3 4 5 6 7\n`,
    'app.report': `GEOPM Version: 3.1.0\nStart Time: 2026-03-01T12:00:00.0+0000\nProfile: ${json}\nAgent: ${json}\nPolicy: {}\n\nHosts:\n  ${json}:\n    Regions:\n    -\n      region: ${json}\n      hash: 0x1\n      runtime (s): 1\n      count: 1\n      ${json}: 2\n    Application Totals:\n      runtime (s): 1\n`,
    'app.trace': `# geopm_version: 3.1.0\n# start_time: 2026-03-01T12:00:00.0+0000\n# profile_name: ${json}\n# node_name: ${word}\n# agent: ${word}\nTIME|CPU_ENERGY|REGION_HASH\n0.5|1|0x1\n1|2|0x1\n`,
  });
}
