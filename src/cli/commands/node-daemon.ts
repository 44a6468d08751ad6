/** `triscope node daemon`: appends samples to the log, at multiples of the interval. */
import { dirname, join } from 'node:path';
import type { RawStyle } from '../../formats/tacc/writer.ts';
import { flag, float, int, text } from '../../model/option.ts';
import { DAY_SECONDS } from '../../model/units.ts';
import {
  DEFAULT_CONFIG,
  LEAST_FREQ_SECONDS,
  MOST_FREQ_SECONDS,
  type NodeConfig,
  readConfig,
  usualConfig,
} from '../../node/config.ts';
import { Daemon } from '../../node/daemon.ts';
import { about } from '../../node/log/error.ts';
import { PidFile } from '../../node/log/pid-file.ts';
import { Sampling } from '../../node/sampling.ts';
import { releaseStart } from '../../os/code-pages.ts';
import { makeFolder } from '../../os/folder.ts';
import { type Call, command, type Given } from '../command.ts';
import { EXIT, lineFor, UsageError } from '../errors.ts';
import { guardThread } from '../guard.ts';
import {
  collectionFrom,
  hostnameFor,
  LOG_OPTIONS,
  openSampling,
  placeFrom,
  say,
  styleFrom,
} from '../node-log-options.ts';
import { brokerFrom, SINK_OPTIONS, sinksFrom } from '../node-sinks.ts';
import { tellRights } from '../tell-rights.ts';

/** Milliseconds after which memory that only the start needed is released. */
const SETTLED_MS = 5000;
/** Seconds of a file, as in the original. */
const ROTATE_SECONDS = DAY_SECONDS;

const OPTIONS = {
  config: text('', 'tacc_stats’ configuration: lines server, queue, port, freq, buffer', {
    placeholder: 'FILE',
    short: 'c',
    names: 'input',
    fallback:
      '/etc/hpcperfstats/hpcperfstats.conf, /etc/taccstats/taccstats.conf or /etc/tacc_stats.conf, where one exists (TRISCOPE_NODE_CONFIG names another)',
  }),
  freq: float(DEFAULT_CONFIG.freq, 'seconds between samples, instead of the configuration’s', {
    min: LEAST_FREQ_SECONDS,
    max: MOST_FREQ_SECONDS,
    placeholder: 'SECONDS',
    short: 'f',
  }),
  'idle-freq': float(0, 'seconds between samples while no job runs, if longer', {
    min: 0,
    max: MOST_FREQ_SECONDS,
    placeholder: 'SECONDS',
    fallback: 'that of --freq',
  }),
  rotate: int(ROTATE_SECONDS, 'seconds after which a new file begins', {
    min: 1,
    max: MOST_FREQ_SECONDS,
    placeholder: 'SECONDS',
  }),
  count: int(0, 'end after N samples', { min: 1, fallback: '' }),
  once: flag(false, 'the same as --count 1'),
  'pid-file': text('', 'file for the process id', {
    placeholder: 'FILE',
    names: 'path',
    fallback: 'daemon.pid in the log’s folder',
  }),
  ...SINK_OPTIONS,
  ...LOG_OPTIONS,
} as const;
type DaemonGiven = Given<typeof OPTIONS>;

/** Published record groups must name their host, as those of version 2 do. @throws UsageError */
function daemonStyle(given: DaemonGiven, published: boolean): RawStyle {
  const style = styleFrom(given);
  if (!published || style === '2.3') return style;
  if (given['raw-version'] === undefined && given.style === undefined) return '2.3';
  throw new UsageError(
    '--raw-version 1 does not store the host in record groups; to publish them, use --raw-version 2',
  );
}

/** Returns the exit code. @throws UsageError, ConfigError, LogError */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const path = given.config;
  const freq = given.freq;
  const settings = (): NodeConfig => {
    const config = path === undefined ? usualConfig() : readConfig(path);
    return freq === undefined ? config : { ...config, freq };
  };
  const config = settings();
  const { log, sources, pmc } = placeFrom(given);
  const style = daemonStyle(given, brokerFrom(given, config) !== null);
  const options = { ...collectionFrom(given, []), style };
  const named = { ...options, hostname: await hostnameFor(options.root, log) };
  // Names of types are checked before anything is written.
  const first = await openSampling(named);
  tellRights(first.collection.absent, say);
  first.close();
  const pidPath = given['pid-file'] ?? join(log.folder, 'daemon.pid');
  about(log.folder, () => makeFolder(log.folder));
  about(pidPath, () => makeFolder(dirname(pidPath)));
  const pidFile = new PidFile(pidPath);
  const sinks = await sinksFrom(given, config, log.folder).catch((error: unknown) => {
    pidFile.close();
    throw error;
  });
  // Released after loading, so that the memory of both does not add up.
  releaseStart();
  const daemon = new Daemon({
    freq: config.freq,
    idle: given['idle-freq'] ?? 0,
    buffer: config.buffer,
    open: () => new Sampling({ ...named, wide: true }),
    log: given['no-log'] ? null : log,
    sinks,
    pmc: pmc.program ? pmc.programming : null,
    jobs: sources,
    rotate: given.rotate ?? OPTIONS.rotate.default,
    marksRotation: style === '2.3',
    count: given.once ? 1 : (given.count ?? Number.POSITIVE_INFINITY),
    say,
  });
  const stop = () => daemon.stop();
  const reload = () => {
    try {
      daemon.reload(settings());
      say('the configuration was read again');
    } catch (error) {
      say(`${lineFor(error).replace(/^triscope: /, '')}; the settings are unchanged`);
    }
  };
  // Reading a file of a device that does not answer blocks the main thread.
  const guard = guardThread(['SIGINT', 'SIGTERM'], EXIT.failed);
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', reload);
  const settling = setTimeout(releaseStart, SETTLED_MS).unref();
  try {
    const ran = daemon.run();
    // The first sample is taken.
    releaseStart();
    const { groups, missed, lost, unlogged } = await ran;
    const parts = [
      `${groups} samples`,
      ...(missed > 0 ? [`${missed} skipped because they were too late`] : []),
      ...(lost > 0 ? [`${lost} lost`] : []),
      ...(unlogged > 0 ? [`${unlogged} published but not in the log`] : []),
    ];
    say(parts.join(', '));
    return lost + unlogged > 0 ? EXIT.failed : 0;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', reload);
    clearTimeout(settling);
    guard.release();
    pidFile.close();
  }
}

export const nodeDaemon = command({
  about:
    'Appends samples to the log at regular times, and when the job-id file changes. It stays in the foreground. SIGHUP reads the configuration again; SIGINT and SIGTERM take a last sample and end it.',
  options: OPTIONS,
  examples: ['node daemon --freq 60', 'node daemon --config /etc/tacc_stats.conf --no-log'],
  run,
});
