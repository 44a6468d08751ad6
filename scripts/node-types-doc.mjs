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

Made from the declarations in \`src/node/types\` by \`scripts/node-types-doc.mjs\`; each type is one file there. Which of
them a machine has, and what a collection costs: \`triscope node types\`; keys of one: \`triscope node types TYPE\`.

* All types are looked for when a collection starts; what is absent is left out, with its reason. \`--type.NAME\` takes
  only the types so named, \`--no-type.NAME\` leaves one out. \`--root DIR\` reads a recorded \`proc\` and \`sys\`.
* Counters are never reset or written. Values are copied as the kernel gives them: digit by digit, without repair
  or scaling; only sums (over servers, connections, segments) are computed, with 64 bits.
* A key that a kernel does not have is 0, as the format knows no gaps; so is a file without a number in it. Where a
  source is absent as a whole, there is no record. Keys that kernels have added are not read.
* Devices that come and go are noticed at the next collection. What vanishes between listing and reading is no error.
  Of one type at most 65,536 devices are collected; more are reported.
* Lustre's files, and what else may never answer, are read by a child process. After 2 s (\`--deadline\`) it is left alone; the others are
  recorded without it, and it is asked again when it has come back. A \`tmpfs\` that is mounted behind a server's
  file system is looked at in the same way.
* Names are written so that a record stays one line of words: of processes, what is no printable ASCII, blanks, \`%\`
  and \`/\` are \`%XX\` (decodeURIComponent undoes it); mount points keep the kernel's \`\\040\`; other blanks
  are \`_\`.
* \`proc\` leaves out processes of root, of the users postfix, rpc, rpcuser, dbus, daemon and ntp, of users that are not in
  /etc/passwd (unless /etc/nsswitch.conf names a directory to look them up in), and those called bash, ssh, sshd and
  metacity, as tacc_stats does.
* Types that tacc_stats once had and whose sources are not described well enough are not here: irq, sched, panfs.

Kinds: \`E\` counts events since the machine's start (the number of events is a difference), \`C\` is a control register,
and what has neither is a state of the moment. Counters have 64 bits where no width is said.
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
