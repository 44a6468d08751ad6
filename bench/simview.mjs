/**
 * The simulation's pictures at their full size: 1,024 LPs with a million samples, a million traced events, 200,000
 * rollbacks. Each beside one pass over the same numbers that only sums them: what memory alone would take.
 */

import { ROSS_LP } from '../dist/model/schemas/ross.js';
import { SeriesStore } from '../dist/view/series/store.js';
import { CascadeIndex } from '../dist/view/simulation/cascades.js';
import { densityOf } from '../dist/view/simulation/event-view.js';
import { Events } from '../dist/view/simulation/events.js';
import { heatOf } from '../dist/view/simulation/heat.js';
import { matrixOfEvents } from '../dist/view/simulation/matrix.js';
import { ordered } from '../dist/view/simulation/order.js';
import { Places } from '../dist/view/simulation/places.js';
import { Rollbacks } from '../dist/view/simulation/rollbacks.js';

const LPS = 1024;
const SAMPLES = 977;
const EVENTS = 1_000_000;
const ROLLBACKS = 200_000;
const BINS = 500;
const TIMES = 7;

/** A repeatable stream of numbers in [0, 1). */
let seed = 1;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

function median(run) {
  const times = [];
  for (let k = 0; k < TIMES; k++) {
    const begin = performance.now();
    run();
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[TIMES >> 1];
}

function samples() {
  const store = new SeriesStore();
  for (let k = 0; k < SAMPLES; k++) {
    const columns = ROSS_LP.metrics.map(({ key, cell }) => {
      if (cell === 'label') return new Array(LPS).fill('rt');
      if (cell === 'f64') return new Float64Array(LPS).fill(0.01 * (k + 1));
      const ids = { lp_id: (lp) => lp, kp_id: (lp) => lp >> 6, pe_id: (lp) => lp >> 8 };
      const of = ids[key] ?? (() => Math.floor(1000 * random()));
      return Uint32Array.from({ length: LPS }, (_, lp) => of(lp));
    });
    store.add({ schema: ROSS_LP, rows: LPS, columns });
  }
  return store;
}

function trace() {
  const events = new Events();
  const u32 = () => Uint32Array.from({ length: EVENTS }, () => LPS * random());
  const f64 = () => Float64Array.from({ length: EVENTS }, (_, k) => (10 * k) / EVENTS);
  events.add([u32(), u32(), f64(), f64(), f64()], EVENTS, 0);
  const places = new Places();
  for (let lp = 0; lp < LPS; lp++) places.put(lp, lp >> 8, lp >> 6);
  return { events, places };
}

function rollbacks() {
  const all = new Rollbacks();
  const column = (of) => Float64Array.from({ length: ROLLBACKS }, (_, k) => of(k));
  const id = (k) => (k >> 2) + 1;
  const columns = [
    column((k) => (10 * k) / ROLLBACKS),
    column((k) => k & 3),
    column(() => 16 * random()),
    column(id),
    column((k) => (k * 7) & 3),
    // Most are caused by one of the hundred before them on another PE.
    column((k) => (k > 400 && random() < 0.7 ? id(k - 400 * random()) : 0)),
    column((k) => k & 3),
    column(() => LPS * random()),
    column(() => 1 + 20 * random()),
    column(() => random()),
    column(() => random()),
  ];
  all.add(columns, () => 'straggler', ROLLBACKS, 0);
  return all;
}

const store = samples();
const { events, places } = trace();
const all = rollbacks();
const table = store.table('ross_lp');
const column = table.keys.indexOf('events_processed');
const pass = median(() => {
  let sum = 0;
  for (const { track } of table.tracks()) {
    const [values, times, froms] = [track.column(column), track.times, track.froms];
    for (let row = 0; row < track.length; row++) sum += values[row] * (times[row] - froms[row]);
  }
  return sum;
});
const eventPass = median(() => {
  let sum = 0;
  for (let k = 0; k < EVENTS; k++)
    sum += events.times[k] + events.source[k] + events.destination[k];
  return sum;
});
const window = { from: 0, to: 9.77, within: '' };
const ask = { ...window, level: 'lp', metric: 'events_processed', bins: BINS };
const heat = heatOf(store, ask);
const show = (name, took, limit) =>
  console.log(
    `${name.padEnd(52)} ${took.toFixed(1).padStart(7)} ms  ${(took / limit).toFixed(1).padStart(6)} × one pass`,
  );
show(
  'heatmap, 1,024 LPs × 1e6 samples',
  median(() => heatOf(store, ask)),
  pass,
);
show(
  'heatmap of efficiency (two counters)',
  median(() => heatOf(store, { ...ask, metric: 'efficiency' })),
  pass,
);
show(
  'its rows by similarity',
  median(() => ordered(heat, 'similar')),
  pass,
);
show(
  'matrix of 1e6 events, PEs',
  median(() => matrixOfEvents(events, places, { ...window, of: 'events', level: 'pe' })),
  eventPass,
);
show(
  'matrix of 1e6 events, LPs',
  median(() => matrixOfEvents(events, places, { ...window, of: 'events', level: 'lp' })),
  eventPass,
);
show(
  'density of 1e6 events, KPs × 500',
  median(() => densityOf(events, places, { ...window, sender: '', level: 'kp', bins: BINS })),
  eventPass,
);
const index = new CascadeIndex(all);
show(
  'cascades of 200,000 rollbacks tied, once',
  median(() => new CascadeIndex(all)),
  eventPass,
);
show(
  'the 50 worst of them',
  median(() => index.list({ most: 50 })),
  eventPass,
);
