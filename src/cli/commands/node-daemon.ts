/** `triscope node daemon`: samples at even times into the log. */
import { dirname, join } from 'node:path';
import type { RawStyle } from '../../formats/tacc/writer.ts';
import {
  DEFAULT_CONFIG,
  LEAST_FREQ,
  MOST_FREQ,
  type NodeConfig,
  numberIn,
  readConfig,
  usualConfig,
} from '../../node/config.ts';
import { Daemon } from '../../node/daemon.ts';
import { about } from '../../node/log/error.ts';
import { PidFile } from '../../node/log/pid-file.ts';
import { Sampling } from '../../node/sampling.ts';
import { makeFolder } from '../../os/folder.ts';
import { EXIT, lineFor, UsageError } from '../errors.ts';
import { guardThread } from '../guard.ts';
import {
  collectionFrom,
  hostnameFor,
  LOG_HELP,
  LOG_OPTIONS,
  type LogWords,
  openSampling,
  placeFrom,
  readLogWords,
  say,
  stringOf,
  styleFrom,
  tellRights,
  text,
} from '../node-log-options.ts';
import { brokerFrom, SINK_OPTIONS, sinksFrom } from '../node-sinks.ts';

/** Seconds of a file, as in the original. */
const ROTATE = 86_400;

const USAGE = `usage: triscope node daemon [options]

Takes samples at even times into the log, and when the job-id file changes. It stays in the foreground.
SIGHUP: reads the configuration again. SIGINT, SIGTERM: a last sample, then the end.

  --config FILE      tacc_stats' configuration: lines server, queue, port, freq, buffer; where it is not given
                     /etc/tacc_stats.conf (TRISCOPE_NODE_CONFIG), if there is one
  --freq SECONDS     seconds between samples, instead of the configuration's (${DEFAULT_CONFIG.freq})
  --rotate SECONDS   begin another file after so long (${ROTATE})
  --count N          end after N samples; --once is --count 1
  --pid-file FILE    (daemon.pid in the log's folder)
  --server HOST      publish every sample to this RabbitMQ as well (the configuration's server)
  --queue NAME       its queue (${DEFAULT_CONFIG.queue}); --port N (${DEFAULT_CONFIG.port})
  --user NAME        (guest); the password is that of TRISCOPE_AMQP_PASSWORD (guest)
  --spool DIR        where samples wait for the broker (spool in the log's folder)
  --no-log           publish only
  --metrics PORT     serve the last sample as OpenMetrics at http://127.0.0.1:PORT/metrics
  --metrics-address ADDRESS  on this address instead; a token is needed there: that of
                     TRISCOPE_METRICS_TOKEN, else a new one, which is printed
  --metrics-allow LIST  addresses and networks, such as 10.0.0.5,10.1.0.0/16, that need no token;
                     others are refused, unless they know that of TRISCOPE_METRICS_TOKEN
${LOG_HELP}`;

/** @throws UsageError */
function amountFrom(given: string | undefined, option: string, least: number, most: number) {
  if (given === undefined) return undefined;
  const amount = numberIn(given, least, most, Number.isInteger(least));
  if (amount !== null) return amount;
  throw new UsageError(`${option} ${given}: it is a number from ${least} to ${most}`);
}

/** Groups that are published must say of which host they are, as those of version 2 do. @throws UsageError */
function daemonStyle(words: LogWords, published: boolean): RawStyle {
  const style = styleFrom(words);
  if (!published || style === '2.3') return style;
  if (stringOf(words, 'raw-version') === undefined && stringOf(words, 'style') === undefined) {
    return '2.3';
  }
  throw new UsageError(
    '--raw-version 1 has no host in its groups; published ones need --raw-version 2',
  );
}

/** Returns the exit code. @throws UsageError, ConfigError, LogError */
export async function nodeDaemon(args: readonly string[]): Promise<number> {
  const words = readLogWords(args, {
    ...LOG_OPTIONS,
    config: { ...text, short: 'c' },
    freq: { ...text, short: 'f' },
    rotate: text,
    count: text,
    once: { type: 'boolean' },
    'pid-file': text,
    ...SINK_OPTIONS,
  });
  if (words.values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const [unexpected] = words.positionals;
  if (unexpected !== undefined) {
    throw new UsageError(`unexpected ${unexpected}; --type.${unexpected} collects this type alone`);
  }
  const path = stringOf(words, 'config');
  const freq = amountFrom(stringOf(words, 'freq'), '--freq', LEAST_FREQ, MOST_FREQ);
  const rotate = amountFrom(stringOf(words, 'rotate'), '--rotate', 1, MOST_FREQ) ?? ROTATE;
  const count = amountFrom(stringOf(words, 'count'), '--count', 1, Number.MAX_SAFE_INTEGER);
  const settings = (): NodeConfig => {
    const config = path === undefined ? usualConfig() : readConfig(path);
    return freq === undefined ? config : { ...config, freq };
  };
  const config = settings();
  const { log, sources, pmc } = placeFrom(words);
  const style = daemonStyle(words, brokerFrom(words, config) !== null);
  const options = { ...collectionFrom(words, []), style };
  const named = { ...options, hostname: await hostnameFor(options.root, log) };
  // Names of types are checked before anything is written.
  const first = await openSampling(named);
  tellRights(first.collection.absent);
  first.close();
  const pidPath = stringOf(words, 'pid-file') ?? join(log.folder, 'daemon.pid');
  about(log.folder, () => makeFolder(log.folder));
  about(pidPath, () => makeFolder(dirname(pidPath)));
  const pidFile = new PidFile(pidPath);
  const sinks = await sinksFrom(words, config, log.folder).catch((error: unknown) => {
    pidFile.close();
    throw error;
  });
  const daemon = new Daemon({
    freq: config.freq,
    buffer: config.buffer,
    open: () => new Sampling({ ...named, wide: true }),
    log: words.values['no-log'] ? null : log,
    sinks,
    pmc: pmc.program ? pmc.programming : null,
    jobs: sources,
    rotate,
    marksRotation: style === '2.3',
    count: words.values.once ? 1 : (count ?? Number.POSITIVE_INFINITY),
    say,
  });
  const stop = () => daemon.stop();
  const reload = () => {
    try {
      daemon.reload(settings());
      say('the configuration was read again');
    } catch (error) {
      say(`${lineFor(error).replace(/^triscope: /, '')}; the settings stay as they were`);
    }
  };
  // A file of a device that does not answer keeps the main thread.
  const guard = guardThread(['SIGINT', 'SIGTERM'], EXIT.failed);
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', reload);
  try {
    const { groups, missed, lost } = await daemon.run();
    const late = missed > 0 ? `, ${missed} left out as it was too late for them` : '';
    say(`${groups} samples${late}${lost > 0 ? `, ${lost} lost` : ''}`);
    return lost > 0 ? EXIT.failed : 0;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', reload);
    guard.release();
    pidFile.close();
  }
}
