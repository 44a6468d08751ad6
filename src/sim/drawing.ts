/** Where an animation draws LPs: at the places that their model gives, otherwise in a grid. */
import { FrameEncoder } from '../formats/frames/index.ts';
import { OptionError } from '../model/option.ts';
import { RowBatch } from '../model/rows.ts';
import { SIM_LINK, SIM_PLACE } from '../model/schemas/sim.ts';
import type { RunConfig } from './config.ts';
import type { Model } from './model.ts';
import { DeclarationError } from './model-error.ts';
import { modelOfRun } from './run-model.ts';
import { makeTables } from './tables.ts';

/** With more LPs a picture shows nothing. */
const MOST_LPS = 65_536;
const MOST_LINKS = 1_000_000;

/** LPs by number, and pairs of LPs that are joined by lines. */
export interface LpPlaces {
  /** Place of LP k, in the model's own unit of length; y grows downwards. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Line k joins LP `from[k]` and LP `to[k]`. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/**
 * Asks the model for the place of each LP, and for the LPs to which it is joined.
 * @throws ModelError for a place that is not two finite numbers, or a line to an LP that does not exist
 * @throws OptionError if there are more LPs than a picture has room for
 */
export function placesOf(given: Model, config: RunConfig): LpPlaces {
  const lps = given.lps(config.options, { pes: config.pes });
  if (lps > MOST_LPS) {
    throw new OptionError(
      `--animate draws at most ${MOST_LPS} LPs; this run has ${lps}: run a smaller one to look at`,
    );
  }
  const x = new Float64Array(lps);
  const y = new Float64Array(lps);
  const [from, to]: [number[], number[]] = [[], []];
  const { drawing } = given;
  if (drawing === undefined) {
    const columns = Math.ceil(Math.sqrt(lps));
    for (let lp = 0; lp < lps; lp++) [x[lp], y[lp]] = [lp % columns, Math.floor(lp / columns)];
    return { x, y, from, to };
  }
  const model = modelOfRun(given, config, makeTables(given, config, lps));
  const { pes, end, lookahead } = config;
  const params = model.prepare(config.options, { pes, end, lookahead, lps });
  const wrong = (part: string, what: string) =>
    new DeclarationError(`model '${model.name}': drawing.${part}() ${what}`, ['drawing', part]);
  for (let lp = 0; lp < lps; lp++) {
    const at: unknown = drawing.at(lp, params);
    if (!Array.isArray(at) || at.length !== 2 || !at.every(Number.isFinite)) {
      throw wrong('at', `must give [x, y], two finite numbers, for LP ${lp}`);
    }
    [x[lp], y[lp]] = at;
    const others: unknown = drawing.links?.(lp, params) ?? [];
    if (!Array.isArray(others)) throw wrong('links', `must give a list of LPs, for LP ${lp}`);
    for (const other of others) {
      if (!(Number.isInteger(other) && other >= 0 && other < lps)) {
        throw wrong('links', `joins LP ${lp} with LP ${other}; there are LPs 0 to ${lps - 1}`);
      }
      if (from.length === MOST_LINKS) throw wrong('links', `gives more than ${MOST_LINKS} lines`);
      from.push(lp);
      to.push(other);
    }
  }
  return { x, y, from, to };
}

/** The places as stream frames. @param at seconds since the run's start */
export function placeFrames({ x, y, from, to }: LpPlaces, at: number): Uint8Array {
  const encoder = new FrameEncoder();
  const places = new RowBatch(SIM_PLACE);
  for (let lp = 0; lp < x.length; lp++) places.add([at, lp, x[lp], y[lp]]);
  const links = new RowBatch(SIM_LINK);
  for (let k = 0; k < from.length; k++) links.add([at, from[k], to[k]]);
  const batches = [places.take() ?? [], links.take() ?? []].flat();
  return Buffer.concat(batches.flatMap((batch) => encoder.encode(batch)));
}
