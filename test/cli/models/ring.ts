/** A token that goes round a ring of LPs, one place in each unit of time; LPs are drawn on a circle, joined with the next. */
import { defineModel, int, oneOf } from 'triscope/sim';

export default defineModel({
  name: 'ring',
  end: 24,
  lookahead: 1,
  options: {
    stations: int(8, 'LPs around the ring', { min: 2 }),
    wrong: oneOf(
      { none: 0, place: 1, line: 2, lines: 3, throws: 4 },
      'none',
      'what the drawing says wrongly',
    ),
  },
  lps: (o) => o.stations,
  state: { passed: 'u32' },
  message: {},
  drawing: {
    at(lp, { stations, wrong }) {
      if (wrong === 'throws') throw new Error('no place');
      const angle = (2 * Math.PI * lp) / stations;
      return [wrong === 'place' ? Number.NaN : Math.cos(angle), Math.sin(angle)];
    },
    links(lp, { stations, wrong }) {
      if (wrong === 'lines') return undefined as unknown as [];
      return [wrong === 'line' ? stations : (lp + 1) % stations];
    },
  },
  instrument: {
    sample: {
      fields: { passed: 'u32' },
      fill(lp, data) {
        data.passed = lp.state.passed;
      },
    },
  },
  init(lp) {
    if (lp.id === 0) lp.send(1, 1);
  },
  forward(lp) {
    lp.state.passed++;
    lp.send((lp.id + 1) % lp.lps, 1);
  },
});
