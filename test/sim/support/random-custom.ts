import { mixedTypes } from './random-model.ts';

/** The first PE has half of the LPs, the last KP most of them. */
export default mixedTypes('random-custom', {
  pe: (lp, lps, pes) => (lp < lps / 2 ? 0 : lp % pes),
  kp: (lp, _index, kps) => (lp % 4 === 0 ? 0 : kps - 1),
});
