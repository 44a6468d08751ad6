/**
 * The configuration file of tacc_stats (hpcperfstats), as it is:
 *
 *     server broker.example          broker that samples are published to
 *     queue: cluster                 its queue
 *     port=5672
 *     freq 600                       seconds between samples; also written `frequency`
 *     buffer 300                     samples kept where they cannot be written
 *
 * One setting a line; between name and value stand blanks, tabs, colons or `=`. `#` begins a comment. 2.3 to 2.3.4 write
 * `SERVER`: letters may be large.
 */

import { existsSync } from 'node:fs';
import { EXIT, TriscopeError } from '../model/error.ts';
import { DAY_SECONDS } from '../model/units.ts';
import { readPlain } from '../os/plain-file.ts';
import { reasonOf } from './log/error.ts';

/**
 * A configuration file that cannot be used. The message names file and line.
 * @example
 * ```ts
 * import { ConfigError, readConfig } from 'triscope/node';
 *
 * try {
 *   readConfig('/etc/tacc_stats.conf');
 * } catch (error) {
 *   if (error instanceof ConfigError) console.error(error.message); // file and line
 * }
 * ```
 */
export class ConfigError extends TriscopeError {
  override readonly name = 'ConfigError';
  override readonly exitCode = EXIT.input;
}

/** The daemon's file of settings: its broker, seconds between samples, and how many groups wait while they cannot be written. */
export interface NodeConfig {
  /** Host name of the broker; null for none. */
  readonly server: string | null;
  /** Name of the broker's queue. */
  readonly queue: string;
  /** TCP port of the broker. */
  readonly port: number;
  /** Seconds between samples. */
  readonly freq: number;
  /** Groups that are kept in memory where they cannot be written. */
  readonly buffer: number;
}

/** What holds where no file says otherwise. */
export const DEFAULT_CONFIG: NodeConfig = {
  server: null,
  queue: 'default',
  port: 5672,
  freq: 600,
  buffer: 300,
};

/** Seconds: a daemon that samples without pause would take a CPU. */
export const LEAST_FREQ_SECONDS = 0.01;
export const MOST_FREQ_SECONDS = 7 * DAY_SECONDS;
const SETTINGS = 'server, queue, port, freq, frequency, buffer';

/** A number from `from` to `to`; null for any other text. */
export function numberIn(text: string, from: number, to: number, whole: boolean): number | null {
  if (!(whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text)) return null;
  const value = Number(text);
  return value >= from && value <= to ? value : null;
}

const RANGES: Readonly<Record<string, readonly [key: keyof NodeConfig, from: number, to: number]>> =
  {
    port: ['port', 1, 65_535],
    freq: ['freq', LEAST_FREQ_SECONDS, MOST_FREQ_SECONDS],
    frequency: ['freq', LEAST_FREQ_SECONDS, MOST_FREQ_SECONDS],
    buffer: ['buffer', 1, 1_000_000],
  };

/**
 * Reads the text of a configuration file. `path` is for messages. @throws ConfigError
 * @example
 * ```ts
 * import { parseConfig } from 'triscope/node';
 *
 * const { freq } = parseConfig('freq 600\nbuffer 300\n', 'tacc_stats.conf'); // 600 s
 * ```
 */
export function parseConfig(text: string, path: string): NodeConfig {
  const config: Record<string, string | number | null> = { ...DEFAULT_CONFIG };
  for (const [k, line] of text.split(/\r?\n/).entries()) {
    const [word = '', value = '', ...more] = line
      .replace(/#.*/, '')
      .split(/[\s:=]+/)
      .filter(Boolean);
    const name = word.toLowerCase();
    if (name === '') continue;
    const wrong = (why: string) => new ConfigError(`${path}: line ${k + 1}: ${why}`);
    const range = RANGES[name];
    if (range === undefined && name !== 'server' && name !== 'queue') {
      throw wrong(`there is no setting ${name}; the settings are ${SETTINGS}`);
    }
    if (value === '' || more.length > 0) throw wrong(`${name} takes one value`);
    if (range === undefined) config[name] = value;
    else {
      const [key, from, to] = range;
      const number = numberIn(value, from, to, key !== 'freq');
      if (number === null) throw wrong(`${name} ${value}: must be a number from ${from} to ${to}`);
      config[key] = number;
    }
  }
  return config as unknown as NodeConfig;
}

/** Where the original's packages put their configuration, newest first: of 2025, since 2.3.5, before. */
const USUAL = [
  '/etc/hpcperfstats/hpcperfstats.conf',
  '/etc/taccstats/taccstats.conf',
  '/etc/tacc_stats.conf',
];
const usualPlaces = (): readonly string[] => {
  const own = process.env.TRISCOPE_NODE_CONFIG;
  return own ? [own] : USUAL;
};

/**
 * The configuration of this machine: that of the first of the usual files that exists; another place by the environment.
 * @throws ConfigError
 * @example
 * ```ts
 * import { usualConfig } from 'triscope/node';
 *
 * const { freq } = usualConfig(); // such as that of /etc/tacc_stats.conf, or the default of 600 s
 * ```
 */
export function usualConfig(places = usualPlaces()): NodeConfig {
  const path = places.find((place) => existsSync(place));
  return path === undefined ? DEFAULT_CONFIG : readConfig(path);
}

/**
 * Reads a configuration file. @throws ConfigError
 * @example
 * ```ts
 * import { readConfig } from 'triscope/node';
 *
 * const { freq, buffer } = readConfig('/etc/tacc_stats.conf');
 * ```
 */
export function readConfig(path: string): NodeConfig {
  let text: string;
  try {
    text = readPlain(path);
  } catch (error) {
    throw new ConfigError(`${path}: cannot be read: ${reasonOf(error)}`);
  }
  return parseConfig(text, path);
}
