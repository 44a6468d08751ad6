/**
 * Writes docs/node/types.md from the declarations of the node collector's types. Run by hand, after a build, where a type
 * has changed:
 *
 *     node scripts/node-types-doc.mjs
 *
 * A test compares the page with `typesPage`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NODE_TYPES } from '../dist/node/index.js';

const PAGE = new URL('../docs/node/types.md', import.meta.url);

const HEAD = `# Types of the node collector

Every type of counters that the collector knows: its source, its devices and its keys.

\`\`\`
triscope node types                        # which of them this machine has, and what a sample costs
triscope node types cpu                    # the keys of one
\`\`\`

\`scripts/node-types-doc.mjs\` makes this page from the declarations in \`src/node/types\`, one file per type.

* All types are looked for when a collection starts; absent ones are left out, with the reason. \`--type.NAME\` collects
  only the named types, \`--no-type.NAME\` leaves one out. \`--root DIR\` reads a recorded \`proc\` and \`sys\`.
* Counters are never reset or written. Values are copied from the kernel digit by digit, without repair
  or scaling; only sums (over servers, connections, segments) are computed, with 64 bits.
* Types such as \`vm\`, \`ib\`, \`psi\`, \`cgroup_*\` and \`amd_gpu*\` leave keys that the kernel or port does not count out of their schema. For other types such a key is 0, because the format
  has no missing values, as is the key of a file that contains no number. If a whole source is absent, there is no record. Keys that newer kernels have added are not read.
* Devices that appear or vanish are noticed at the next collection. It is not an error if a device vanishes between being listed and being read.
  At most 65,536 devices of a type are collected; more are reported.
* Lustre's files, and other sources that may block, are read by a child process. If it has not answered after 2 s (\`--deadline\`), the other types are
  recorded without its types, and it is asked again once it has answered. A \`tmpfs\` that is mounted behind a server's
  file system is read in the same way.
* \`cgroup_*\` needs Slurm with control groups of version 2. When a collection starts, the keys are taken from a running job, or else from
  \`system.slice\`, so the daemon should start after slurmd.
* \`powercap\` is collected only by the daemon, because its kernel counters roll over within minutes, and only for zones whose energy registers do not provide.
* NVMe drives are in \`block\` and \`hwmon_temp\`; their SMART log is not read ([why](hardware.md#what-is-read-and-with-which-rights)).
* Never run on hardware, only on trees made from the kernel's documents: \`amd_gpu*\`, the core counters of Zen 4 and Zen 5, \`intel_gpu\`, \`cgroup_*\`, \`hwmon_*\`, \`nfs4\`, \`nvidia_gpu_*\`, \`powercap\`.
* Names are encoded so that a record stays one line of words. In names of processes, characters other than printable ASCII, blanks, \`%\`
  and \`/\` become \`%XX\` (decodeURIComponent restores them); mount points keep the kernel's \`\\040\`; other blanks
  become \`_\`.
* As in tacc_stats, \`proc\` leaves out processes of root, of the users postfix, rpc, rpcuser, dbus, daemon and ntp, of users that are not in
  /etc/passwd (unless /etc/nsswitch.conf names a directory service), and those called bash, ssh, sshd and
  metacity.
* Types of tacc_stats whose sources are not sufficiently documented are missing: irq, sched, panfs.

Kinds: \`E\` counts events since the machine's start (the number of events is a difference), \`C\` is a control register,
and keys with neither are a momentary state. Counters have 64 bits unless a width is given.
`;

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('_', '\\_');
const row = (cells) => `| ${cells.join(' | ')} |`;
const kindOf = ({ kind }) => (kind === 'event' ? 'E' : kind === 'control' ? 'C' : '');

/** Keys of a type, as rows of a table. */
const keysOf = ({ metrics }) =>
  metrics
    .map((metric) =>
      row([
        `\`${metric.key}\``,
        kindOf(metric),
        metric.unit,
        metric.bits === undefined ? '' : String(metric.bits),
        cell(metric.help),
      ]),
    )
    .join('\n');

/** The page's text. */
export function typesPage(types = NODE_TYPES) {
  const overview = types.map(({ name, help, device, source }) =>
    row([`[${cell(name)}](#${name})`, cell(help), cell(device), cell(source)]),
  );
  /** Name of the first type with such keys. */
  const known = new Map();
  const sections = types.map((type) => {
    const keys = keysOf(type);
    const same = known.get(keys);
    if (same === undefined) known.set(keys, type.name);
    const what = `${type.help}. Device: ${type.device}. Source: ${type.source}.`;
    return [
      `## ${type.name}\n`,
      `${cell(what.charAt(0).toUpperCase() + what.slice(1))}\n`,
      same === undefined
        ? `| key | kind | unit | bits | what |\n|---|---|---|---|---|\n${keys}\n`
        : `Keys as [${cell(same)}](#${same}).\n`,
    ].join('\n');
  });
  const head = ['| type | what | device | source |', '|---|---|---|---|'];
  return `${[HEAD, [...head, ...overview].join('\n'), '', ...sections].join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('.', PAGE), { recursive: true });
  writeFileSync(PAGE, typesPage());
}
