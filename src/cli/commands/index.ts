/** The commands, in the order of `--help`. A new one is a file here and a line below. */
import type { Command } from '../command.ts';
import type { CommandEntry } from '../entries.ts';

const entry = (name: string, summary: string, load: () => Promise<Command>): CommandEntry => ({
  name,
  summary,
  load,
});

// biome-ignore format: one command, one line
export const COMMANDS: readonly CommandEntry[] = [
  entry('demo', 'a tour of half a minute: an optimistic parallel simulation that proves itself right', async () => (await import('./demo.ts')).demo),
  entry('sim run', 'run a simulation: a built-in model, or the path of a module', async () => (await import('./sim-run.ts')).simRun),
  entry('sim verify', 'check that every synchroniser commits the same events', async () => (await import('./sim-verify.ts')).simVerify),
  entry('sim tune', 'find the fastest batch, GVT interval, KPs, window and PEs for a model', async () => (await import('./sim-tune.ts')).simTune),
  entry('sim sweep', 'run a model for many settings and seeds, with means and confidence intervals', async () => (await import('./sim-sweep.ts')).simSweep),
  entry('sim new', 'make a folder with a model to begin from: its types, test and settings', async () => (await import('./sim-new.ts')).simNew),
  entry('sim models', 'list the built-in models with their options', async () => (await import('./sim-models.ts')).simModels),
  entry('record', 'record any program: its machine, regions, processes and threads on one timeline', async () => (await import('./record.ts')).record),
  entry('region launch', 'run a command, and report where its time and energy went, region by region', async () => (await import('./region-launch.ts')).regionLaunch),
  entry('region attach', 'sample programs that were started elsewhere, and report as region launch does', async () => (await import('./region-attach.ts')).regionAttach),
  entry('region restore', 'put back settings that a killed controller left changed', async () => (await import('./region-restore.ts')).regionRestore),
  entry('region build-shims', 'build the shims that mark MPI and OpenMP programs, and the libraries for programs marked for GEOPM', async () => (await import('./region-build-shims.ts')).regionBuildShims),
  entry('region flags', 'print the compiler and linker flags for programs marked for GEOPM', async () => (await import('./region-flags.ts')).regionFlags),
  entry('node collect', "take a sample of this machine's counters, into the log or onto stdout", async () => (await import('./node.ts')).nodeCollect),
  entry('node begin', 'begin a job on this node, with a marked sample', async () => (await import('./node.ts')).nodeBegin),
  entry('node end', 'end a job on this node, with a marked sample', async () => (await import('./node.ts')).nodeEnd),
  entry('node mark', 'take a sample with a mark', async () => (await import('./node.ts')).nodeMark),
  entry('node rotate', 'end the current file of the log', async () => (await import('./node.ts')).nodeRotate),
  entry('node daemon', 'take samples at regular times, and when jobs begin and end', async () => (await import('./node-daemon.ts')).nodeDaemon),
  entry('node archive', 'compress old files of the log into an archive, by host', async () => (await import('./node-archive.ts')).nodeArchive),
  entry('node types', 'list what can be collected, with keys and units', async () => (await import('./node-types.ts')).nodeTypes),
  entry('node alerts', 'print findings of live nodes as alerting rules of Prometheus', async () => (await import('./node-alerts.ts')).nodeAlerts),
  entry('node job', 'a job of an archive: hosts, metrics with inputs, flags, course over time', async () => (await import('./node-job.ts')).nodeJob),
  entry('node jobs', 'the jobs of an archive, searched by user, time, metric and flag', async () => (await import('./node-jobs.ts')).nodeJobs),
  entry('node index', 'make or update an archive’s job index, used by node jobs, SQL and the page', async () => (await import('./node-index.ts')).nodeIndex),
  entry('signal list', 'list the signals of this machine: energy, frequency, temperature, load', async () => (await import('./signal-list.ts')).signalList),
  entry('signal read', 'print the value of a signal', async () => (await import('./signal-read.ts')).signalRead),
  entry('signal watch', 'sample signals over time: rows, a report, OpenMetrics', async () => (await import('./signal-watch.ts')).signalWatch),
  entry('signal write', 'change a setting, such as a power limit', async () => (await import('./signal-write.ts')).signalWrite),
  entry('query', 'a recording, or files, as SQL tables', async () => (await import('./query.ts')).query),
  entry('export', 'a recording as Parquet, Arrow, CSV, JSON, a trace for Perfetto, or OpenMetrics', async () => (await import('./export.ts')).exportCommand),
  entry('report', 'what is slow in a recording, why, and which setting to change', async () => (await import('./report.ts')).report),
  entry('annotate', 'notes about moments of a recording, kept in its folder', async () => (await import('./annotate.ts')).annotate),
  entry('serve', 'show recordings in the browser', async () => (await import('./serve.ts')).serve),
  entry('info', 'what a file or folder is: format, era, records, entities, time span, suspect spots', async () => (await import('./info.ts')).info),
  entry('read', 'decode files to rows: text, JSON or CSV', async () => (await import('./read.ts')).read),
  entry('diff', 'what changed from one run to another', async () => (await import('./diff.ts')).diff),
  entry('help', 'help of a command; man pages', async () => (await import('./help.ts')).helpOf(COMMANDS)),
  entry('completion', 'a script with which a shell completes commands, options, models, tables and jobs', async () => (await import('./completion.ts')).completionOf(COMMANDS)),
];
