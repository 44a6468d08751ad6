/** What `recording.json` says, for `triscope info`. */
import { join } from 'node:path';
import { readRecording, type ToldRecording } from '../formats/joined-recording.ts';
import { counted } from '../model/measures/text.ts';
import { type RecordingClock, RecordingError, type RecordingSource } from '../model/recording.ts';

export interface RecordingInfo extends ToldRecording {
  readonly path: string;
}

/** Null where `path` is no recording's folder. @throws RecordingError that names the file */
export function recordingInfo(path: string): RecordingInfo | null {
  try {
    const told = readRecording(path);
    return told === null ? null : { path, ...told };
  } catch (error) {
    throw error instanceof RecordingError ? new RecordingError(join(path, error.message)) : error;
  }
}

const milliseconds = (nanoseconds: string | number) =>
  `${Number((Number(nanoseconds) / 1e6).toPrecision(6))} ms`;
const perMillion = (nanoseconds: number) => `${Number((nanoseconds / 1e3).toPrecision(3))} ppm`;

function clockLine(clock: RecordingClock, first: string): string {
  const { host, same, start, drift, driftUncertainty } = clock;
  const offset = same
    ? `the same as ${first}'s`
    : `ahead of ${first}'s by ${milliseconds(start.monotonic)}, corrected`;
  return [
    `${host}: ${offset}`,
    `time of day ahead by ${milliseconds(start.wall)}`,
    `both ± ${milliseconds(start.uncertainty)}`,
    `drift ${perMillion(drift)} ± ${perMillion(driftUncertainty)}, not corrected`,
  ].join('; ');
}

/** How far apart the sources may show one moment, where all of them say it. */
function agreement(sources: readonly RecordingSource[]): string[] {
  const bounds = sources.flatMap(({ bound }) => bound ?? []);
  if (bounds.length === 0) return [];
  const others = sources.filter(({ bound }) => bound === undefined).map(({ name }) => name);
  const but = others.length === 0 ? '' : `; not known of ${others.join(', ')}`;
  return [`clocks\tagree to ${milliseconds(Math.max(...bounds))}${but}`];
}

/** Lines “name, tab, value”. */
export function recordingLines({ recording }: RecordingInfo): string[] {
  const { state, started, ended, error, madeBy, hosts, pes, sources, clocks = [] } = recording;
  const dropped = sources.reduce((sum, one) => sum + one.droppedBytes, 0);
  const first = hosts[0]?.name ?? '';
  const on = (host: string) => pes.filter((pe) => pe.host === host).length;
  return [
    `what\trecording, ${state}${error === undefined ? '' : `: ${error}`}`,
    `command\t${madeBy.command.join(' ')}`,
    `time\t${started}${ended === undefined ? '' : ` to ${ended}`}`,
    ...hosts.map(
      ({ name, cpus }) => `host\t${name}: ${counted(cpus, 'CPU')}, ${counted(on(name), 'PE')}`,
    ),
    ...clocks.map((clock) => `clock\t${clockLine(clock, first)}`),
    ...agreement(sources),
    `sources\t${sources.map(({ name, files }) => `${name} (${counted(files.length, 'file')})`).join(', ')}`,
    ...(dropped > 0 ? [`dropped\t${dropped} bytes`] : []),
  ];
}
