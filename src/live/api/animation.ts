/** LPs at their places over virtual time: what `sim run --animate` records. */
import type { Context } from 'hono';
import { endedBy } from '../../query/ended-by.ts';
import { type OpenRecording, quoteName } from '../../query/index.ts';
import { type AnimationFacts, type LinkFrames, linksOf } from '../../view/simulation/animation.ts';
import { pack } from '../../view/simulation/packed.ts';
import { sharedBy } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { type ApiContext, ApiError, BYTES, bytesAnswer, fits, type Route } from './route.ts';

/** Columns of `ross_model` that are no fields of the model. */
const OURS = new Set([
  ...['t', 'real_time', 'virtual_time', 'gvt', 'gvt_index', 'mode', 'pe_id', 'kp_id', 'lp_id'],
  ...['speculative', 'host', 'source'],
]);
/** Columns that tell to which link a row belongs. */
const OF_LINK = ['link', 'link_to'];
const NUMBERS = /^(U?(TINY|SMALL|BIG)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|BOOLEAN)$/;
/** Bytes of a value while it is read: a row of the answer to our statement. */
const VALUE_BYTES = 128;

async function columnsOf(recording: OpenRecording, table: string): Promise<Map<string, string>> {
  const rows = await recording.query<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'main' AND table_name = '${table}'`,
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

/** Null if the recording has no animation. */
async function animationFactsOf(recording: OpenRecording): Promise<AnimationFacts | null> {
  const columns = await columnsOf(recording, 'ross_model');
  if (!columns.has('lp_id') || !(await columnsOf(recording, 'sim_place')).has('x')) return null;
  const fields = [...columns].flatMap(([name, type]) =>
    !OURS.has(name) && !OF_LINK.includes(name) && NUMBERS.test(type) ? [name] : [],
  );
  const times = await recording.query<{ time: number }>(
    `SELECT DISTINCT virtual_time::DOUBLE AS time FROM ross_model WHERE mode = 'vt' ORDER BY time`,
  );
  const places = await recording.query<{ lp: number; x: number; y: number }>(
    `SELECT lp_id AS lp, x, y FROM sim_place
     WHERE lp_id IN (SELECT lp_id FROM ross_model WHERE mode = 'vt') ORDER BY lp`,
  );
  if (times.length === 0 || places.length === 0) return null;
  const isJoined = (await columnsOf(recording, 'sim_link')).has('to_lp');
  const pairs = isJoined
    ? await recording.query<{ a: number; b: number }>('SELECT lp_id AS a, to_lp AS b FROM sim_link')
    : [];
  const lps = places.map(({ lp }) => lp);
  return {
    fields,
    times: times.map(({ time }) => time),
    lps,
    x: places.map(({ x }) => x),
    y: places.map(({ y }) => y),
    links: linksOf(
      pairs.map(({ a, b }) => [a, b] as const),
      lps,
    ),
    hasLinks: OF_LINK.every((name) => columns.has(name)),
  };
}

/** A field of all links. @throws ApiError if the recording has no samples of links */
async function linkFrames(
  recording: OpenRecording,
  field: string,
  times: readonly number[],
  afford: (values: number) => void,
): Promise<LinkFrames> {
  const links = await recording.query<{ lp: number; other: number; link: number }>(
    `SELECT DISTINCT lp_id AS lp, link_to AS other, link::INTEGER AS link FROM ross_model
     WHERE mode = 'vt' AND link IS NOT NULL AND link_to IS NOT NULL ORDER BY lp, link, other`,
  );
  afford(links.length * times.length);
  const key = (lp: number, link: number, other: number) => `${lp} ${link} ${other}`;
  const index = new Map(links.map(({ lp, link, other }, k) => [key(lp, link, other), k]));
  const frame = new Map(times.map((time, k) => [time, k]));
  const values = new Float32Array(links.length * times.length).fill(Number.NaN);
  const rows = await recording.query<{
    time: number;
    lp: number;
    other: number;
    link: number;
    value: number | null;
  }>(
    `SELECT virtual_time::DOUBLE AS time, lp_id AS lp, link_to AS other, link::INTEGER AS link,
       ${quoteName(field)}::DOUBLE AS value
     FROM ross_model WHERE mode = 'vt' AND link IS NOT NULL AND link_to IS NOT NULL`,
  );
  for (const { time, lp, other, link, value } of rows) {
    const [f, k] = [frame.get(time), index.get(key(lp, link, other))];
    if (f !== undefined && k !== undefined && value !== null) values[k * times.length + f] = value;
  }
  const [from, to] = [links.map(({ lp }) => lp), links.map(({ other }) => other)];
  return { field, from, to, link: links.map(({ link }) => link), values };
}

/** What was recorded, and which of its fields is requested. @throws ApiError for a field that does not exist */
async function askedFor(
  c: Context,
  context: ApiContext,
): Promise<{ shown: Shown; field: string; facts: AnimationFacts }> {
  const shown = await context.shown(c);
  const field = c.req.query('field') ?? '';
  const facts = await animations(shown, context.signal);
  if (facts === null) throw new ApiError(404, 'nothing was recorded with --animate');
  if (!facts.fields.includes(field)) {
    throw new ApiError(400, `there is no field ${JSON.stringify(field)}: see /api/animation`);
  }
  return { shown, field, facts };
}

const FIELD = {
  name: 'field',
  help: 'one of the fields of /api/animation',
  schema: { type: 'string' },
  required: true,
} as const;

const animations = sharedBy(async (shown: Shown, signal) =>
  animationFactsOf(endedBy(await shown.sql(), signal)),
);

export const ANIMATION: readonly Route[] = [
  {
    method: 'get',
    path: '/animation',
    summary: 'Places of LPs, and the virtual times at which the model was sampled',
    gives:
      'fields, times, lps with x and y, links as pairs of indices; null where nothing was recorded with --animate',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      return c.json(await animations(shown, context.signal));
    },
  },
  {
    method: 'get',
    path: '/animation/frames',
    summary: 'A field of all LPs at each of these times',
    parameters: [FIELD],
    gives:
      'u32 length of a JSON head (field), the head, then f32 values, frame by frame a value of each LP (NaN: not recorded); little endian',
    types: [BYTES],
    answer: async (c, context) => {
      const { shown, field, facts } = await askedFor(c, context);
      const { lps, times } = facts;
      fits(lps.length * times.length, VALUE_BYTES, context.limits);
      const values = new Float32Array(lps.length * times.length).fill(Number.NaN);
      const frame = new Map(times.map((time, k) => [time, k]));
      const index = new Map(lps.map((lp, k) => [lp, k]));
      const rows = await endedBy(await shown.sql(), context.signal).query<{
        time: number;
        lp: number;
        value: number | null;
      }>(
        `SELECT virtual_time::DOUBLE AS time, lp_id AS lp, ${quoteName(field)}::DOUBLE AS value
         FROM ross_model WHERE mode = 'vt'`,
      );
      for (const { time, lp, value } of rows) {
        const [f, k] = [frame.get(time), index.get(lp)];
        if (f === undefined || k === undefined || value === null) continue;
        // The greatest value, if an LP has several rows.
        const before = values[f * lps.length + k];
        if (!(value <= before)) values[f * lps.length + k] = value;
      }
      return bytesAnswer(c, pack({ field }, { values }));
    },
  },
  {
    method: 'get',
    path: '/animation/links',
    summary: 'A field of all links at each of these times',
    parameters: [FIELD],
    gives:
      'u32 length of a JSON head (field, and from, to and number of each link), the head, then f32 values, link by link one of each frame (NaN: not recorded); little endian',
    types: [BYTES],
    answer: async (c, context) => {
      const { shown, field, facts } = await askedFor(c, context);
      if (!facts.hasLinks) throw new ApiError(404, 'the model records no links');
      const { values, ...head } = await linkFrames(
        endedBy(await shown.sql(), context.signal),
        field,
        facts.times,
        (count) => fits(count, VALUE_BYTES, context.limits),
      );
      return bytesAnswer(c, pack(head, { values }));
    },
  },
];
