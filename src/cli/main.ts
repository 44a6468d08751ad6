/** The command `triscope`: one table of commands; each file is loaded when its command is called. */
import { Command, CommanderError } from 'commander';
import { EXIT, report, UsageError } from './errors.ts';
import {
  expectExit,
  leave,
  runOneCommand,
  tolerateClosedPipes,
  watchForStrayExits,
} from './leave.ts';
import { didYouMean } from './nearest.ts';
import { guardTerminals } from './terminal.ts';
import { version } from './version.ts';

type Run = (args: readonly string[]) => Promise<number>;

interface Entry {
  /** The words that call it. */
  readonly words: readonly string[];
  readonly arguments: string;
  readonly help: string;
  readonly load: () => Promise<Run>;
}

/** A new command is a file and an entry here. */
const COMMANDS: readonly Entry[] = [
  {
    words: ['demo'],
    arguments: '[--json] [--no-wait]',
    help: 'a tour in 20 seconds: an optimistic parallel simulation that proves itself right',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    words: ['sim', 'run'],
    arguments: 'MODEL [options]',
    help: 'run a simulation: a built-in model, or the path of a module',
    load: async () => (await import('./commands/sim-run.ts')).simRun,
  },
  {
    words: ['sim', 'verify'],
    arguments: 'MODEL [options]',
    help: 'check that every synchroniser commits the same events',
    load: async () => (await import('./commands/sim-verify.ts')).simVerify,
  },
  {
    words: ['sim', 'tune'],
    arguments: 'MODEL [options] [-o FILE]',
    help: 'find the fastest batch, GVT interval, KPs, window and PEs for a model',
    load: async () => (await import('./commands/sim-tune.ts')).simTune,
  },
  {
    words: ['sim', 'models'],
    arguments: '[--json]',
    help: 'list the built-in models with their options',
    load: async () => (await import('./commands/sim-models.ts')).simModels,
  },
  {
    words: ['region', 'launch'],
    arguments: '[options] -- COMMAND…',
    help: 'run a command, and report where its time and energy went, region by region',
    load: async () => (await import('./commands/region-launch.ts')).regionLaunch,
  },
  {
    words: ['region', 'restore'],
    arguments: '[FILE…] [--force] [--json]',
    help: 'put back settings that a killed controller left changed',
    load: async () => (await import('./commands/region-restore.ts')).regionRestore,
  },
  {
    words: ['node', 'collect'],
    arguments: '[TYPE…] [options]',
    help: "take a sample of this machine's counters, into the log or onto stdout",
    load: async () => (await import('./commands/node.ts')).nodeCollect,
  },
  {
    words: ['node', 'begin'],
    arguments: '[JOB] [options]',
    help: 'a job begins on this node: take a sample, marked so',
    load: async () => (await import('./commands/node.ts')).nodeBegin,
  },
  {
    words: ['node', 'end'],
    arguments: '[JOB] [options]',
    help: 'a job ends on this node: take a sample, marked so',
    load: async () => (await import('./commands/node.ts')).nodeEnd,
  },
  {
    words: ['node', 'mark'],
    arguments: 'TEXT [options]',
    help: 'take a sample with a mark',
    load: async () => (await import('./commands/node.ts')).nodeMark,
  },
  {
    words: ['node', 'rotate'],
    arguments: '[options]',
    help: 'end the current file of the log',
    load: async () => (await import('./commands/node.ts')).nodeRotate,
  },
  {
    words: ['node', 'daemon'],
    arguments: '[options]',
    help: 'take samples at even times, and when jobs begin and end',
    load: async () => (await import('./commands/node-daemon.ts')).nodeDaemon,
  },
  {
    words: ['node', 'archive'],
    arguments: '--archive DIR [options]',
    help: 'compress old files of the log into an archive, by host',
    load: async () => (await import('./commands/node-archive.ts')).nodeArchive,
  },
  {
    words: ['node', 'types'],
    arguments: '[TYPE…] [--json]',
    help: 'list what can be collected, with keys and units',
    load: async () => (await import('./commands/node-types.ts')).nodeTypes,
  },
  {
    words: ['node', 'job'],
    arguments: 'JOB --archive DIR [options]',
    help: 'a job of an archive: hosts, metrics with inputs, flags, course in time',
    load: async () => (await import('./commands/node-job.ts')).nodeJob,
  },
  {
    words: ['node', 'jobs'],
    arguments: '--archive DIR [options]',
    help: 'the jobs of an archive, searched by user, time, metric and flag',
    load: async () => (await import('./commands/node-jobs.ts')).nodeJobs,
  },
  {
    words: ['signal', 'list'],
    arguments: '[--domains] [--controls] [--json]',
    help: 'list what this machine tells: energies, frequencies, temperatures, load',
    load: async () => (await import('./commands/signal-list.ts')).signalList,
  },
  {
    words: ['signal', 'read'],
    arguments: 'SIGNAL DOMAIN INDEX',
    help: 'print the value of a signal',
    load: async () => (await import('./commands/signal-read.ts')).signalRead,
  },
  {
    words: ['signal', 'watch'],
    arguments: '[options] < REQUESTS',
    help: 'sample signals over time: rows, a report, OpenMetrics',
    load: async () => (await import('./commands/signal-watch.ts')).signalWatch,
  },
  {
    words: ['signal', 'write'],
    arguments: 'CONTROL DOMAIN INDEX VALUE',
    help: 'change a setting, such as a power limit',
    load: async () => (await import('./commands/signal-write.ts')).signalWrite,
  },
  {
    words: ['region', 'build-shims'],
    arguments: '[NAME…] [options]',
    help: 'build the libraries that mark MPI and OpenMP programs nobody marked',
    load: async () => (await import('./commands/region-build-shims.ts')).regionBuildShims,
  },
  {
    words: ['query'],
    arguments: 'PATH… "SQL" [options]',
    help: 'a recording, or files, as SQL tables',
    load: async () => (await import('./commands/query.ts')).query,
  },
  {
    words: ['export'],
    arguments: 'PATH… --to FORMAT -o OUT [options]',
    help: 'a recording as Parquet, Arrow, CSV, JSON, a trace for Perfetto, or OpenMetrics',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    words: ['report'],
    arguments: 'PATH… [options]',
    help: 'what is slow in a recording, why, and what to turn',
    load: async () => (await import('./commands/report.ts')).report,
  },
  {
    words: ['serve'],
    arguments: 'PATH… [options]',
    help: 'show recordings in the browser',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    words: ['info'],
    arguments: 'PATH… [--json]',
    help: 'what a file or folder is: format, era, records, entities, time span, suspect spots',
    load: async () => (await import('./commands/info.ts')).info,
  },
  {
    words: ['read'],
    arguments: 'PATH… [options]',
    help: 'decode files to rows: text, JSON or CSV',
    load: async () => (await import('./commands/read.ts')).read,
  },
  {
    words: ['diff'],
    arguments: 'A B [options]',
    help: 'what changed from one run to another',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
];

/** What a group of commands is about. */
const GROUPS: Readonly<Record<string, string>> = {
  sim: 'the parallel discrete-event simulator',
  region: 'regions of programs: marked, sampled, reported as GEOPM does',
  signal: 'what the machine tells of itself: energy, frequency, temperature, load',
  node: 'counters of the machine, in the raw format of tacc_stats',
};

/** The words that call `command`. */
function pathOf(command: Command): string {
  const parent = command.parent;
  return parent === null ? '' : `${pathOf(parent)} ${command.name()}`.trim();
}

/** The commands under `command` that do something. */
function leaves(command: Command): Command[] {
  return command.commands.flatMap((c) => (c.commands.length > 0 ? leaves(c) : [c]));
}

/** commander's tree of the table. Commands read their own options, so it only finds the command. */
function programFor(call: (entry: Entry, args: readonly string[]) => Promise<void>): Command {
  const program = new Command('triscope')
    .description('High-performance-computing instrumentation')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({
      visibleCommands: leaves,
      subcommandTerm: (command) => `${pathOf(command)} ${command.usage()}`.trim(),
      commandUsage: (command) => `${['triscope', pathOf(command)].join(' ').trim()} COMMAND …`,
    })
    .enablePositionalOptions();
  const groups = new Map<string, Command>();
  const parentOf = (words: readonly string[]): Command => {
    if (words.length === 1) return program;
    const known = groups.get(words[0]);
    if (known !== undefined) return known;
    const group = program.command(words[0]).description(GROUPS[words[0]] ?? '');
    group.enablePositionalOptions();
    groups.set(words[0], group);
    return group;
  };
  for (const entry of COMMANDS) {
    parentOf(entry.words)
      .command(entry.words[entry.words.length - 1])
      .usage(entry.arguments)
      .description(entry.help)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .passThroughOptions()
      .argument('[words...]')
      .action((words: string[]) => call(entry, words));
  }
  for (const command of [program, ...groups.values()]) {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .helpCommand(false);
  }
  return program;
}

/** What commander refused, as one line of ours. */
function usageErrorFrom(error: CommanderError, args: readonly string[]): UsageError {
  const wrong = args.find((word) => !(word in GROUPS)) ?? '';
  if (error.code === 'commander.unknownCommand') {
    const names = COMMANDS.map(({ words }) => words[args.indexOf(wrong)]).filter(Boolean);
    return new UsageError(`unknown command ${wrong}${didYouMean(wrong, names)}`);
  }
  return new UsageError(error.message.replace(/^error: /, ''));
}

/** Runs the command that `args` call, the words after `triscope`; resolves to its exit code. */
export async function runWords(args: readonly string[]): Promise<number> {
  let code = 0;
  const program = programFor(async (entry, words) => {
    const run = await entry.load();
    code = await run(words);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error);
    if (error.exitCode !== 0) return refuse(program, error, args);
  }
  return code;
}

/** The same as a process: sets its exit code, and ends it where something fails that nobody waits for. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  guardTerminals();
  runOneCommand();
  tolerateClosedPipes();
  watchForStrayExits();
  const fail = (error: unknown) => leave(report(error));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.exitCode = await runWords(args);
  expectExit();
}

/** Commands that are not there, or not complete: help for the latter. */
function refuse(program: Command, error: CommanderError, args: readonly string[]): number {
  if (error.code !== 'commander.help') return report(usageErrorFrom(error, args));
  const group = program.commands.find((command) => command.name() === args[0]);
  process.stderr.write((group ?? program).helpInformation());
  return EXIT.usage;
}
