// Runs that are slow for a reason that is known, because it was made. A cause draws its parameters and gives: how it is run
// sick, how with its knob turned, and what the first finding has to say. Options of the model: model.mjs.
import { fileURLToPath } from 'node:url';

const MODEL = fileURLToPath(new URL('model.mjs', import.meta.url));

/** Sampled as anybody would who wants to know. */
export const RECORDED = [
  ...['--engine-stats=rt', '--rt-interval=50', '--lp-data', '--node-stats=50'],
];

const sim = (options, more = {}) => ({
  command: ['sim', 'run', MODEL],
  options: { pes: 2, end: 100, ...options },
  recorded: RECORDED,
  ...more,
});

/** The same with other options; those that are null go. */
const turned = (run, options, more = {}) => ({
  ...run,
  options: { ...run.options, ...options },
  ...more,
});

export const CAUSES = [
  {
    name: 'skewed map',
    draw: (d) => {
      const sick = sim(
        { lps: d.pick(64, 128), work: d.whole(600, 1200), remote: 0.02, end: 60 },
        { env: { CAUSES_MAP: 'skewed' } },
      );
      return {
        sick,
        cured: turned(sick, {}, { env: {} }),
        rule: 'imbalance',
        says: /PE 0 .*of the LPs/,
      };
    },
  },
  {
    name: 'skewed traffic',
    draw: (d) => {
      const sick = sim({
        lps: d.pick(64, 128),
        work: d.whole(600, 1200),
        crowd: d.real(0.75, 0.9),
        remote: 0.02,
        end: 50,
      });
      const cured = turned(sick, {}, { env: { CAUSES_MAP: 'dealt' } });
      return { sick, cured, rule: 'imbalance', says: /PE 0 / };
    },
  },
  {
    name: 'one hot LP',
    draw: (d) => {
      const sick = sim({
        lps: 64,
        work: d.whole(600, 1200),
        hot: d.real(0.5, 0.7),
        remote: 0.02,
        end: 60,
      });
      return { sick, cured: turned(sick, { hot: 0 }), rule: 'imbalance', says: /LP 0\b/ };
    },
  },
  {
    name: 'batch too large',
    draw: (d) => {
      const sick = sim({
        lps: 64,
        work: d.whole(100, 300),
        least: 0,
        remote: d.real(0.2, 0.4),
        batch: d.pick(1024, 2048),
        'max-opt-lookahead': 1e6,
        end: 40,
      });
      return { sick, cured: turned(sick, { batch: 16 }), rule: 'optimism', says: /--batch=/ };
    },
  },
  {
    name: 'GVT interval too small',
    draw: (d) => {
      const sick = sim({
        lps: 64,
        work: d.whole(0, 30),
        least: 2,
        'gvt-interval': 1,
        batch: d.pick(1, 2),
        end: 300,
      });
      return {
        sick,
        cured: turned(sick, { 'gvt-interval': 64, batch: 16 }),
        rule: 'gvt-interval',
        says: /of their time on .* GVTs/,
      };
    },
  },
  {
    name: 'one KP',
    draw: (d) => {
      const sick = sim({
        lps: d.pick(512, 1024),
        work: d.whole(50, 150),
        least: 0.01,
        remote: d.real(0.1, 0.2),
        nkp: 1,
        'start-events': 2,
        end: 20,
      });
      return {
        sick,
        cured: turned(sick, { nkp: 64 }),
        rule: 'false-rollbacks',
        says: /LPs share a KP/,
      };
    },
  },
  {
    name: 'optimism unbounded',
    draw: (d) => {
      const sick = sim({
        lps: 64,
        work: d.whole(200, 400),
        least: 0,
        remote: d.real(0.1, 0.3),
        'max-opt-lookahead': 1e9,
        'gvt-interval': d.pick(256, 512),
        end: 60,
      });
      return {
        sick,
        cured: turned(sick, { 'max-opt-lookahead': null, 'gvt-interval': 16 }),
        rule: 'optimism',
        says: /--max-opt-lookahead/,
      };
    },
  },
  {
    name: 'hog on one CPU for a known interval',
    draw: (d) => {
      const cpu = d.pick(0, 1);
      const from = d.real(0.9, 1.2);
      const sick = sim(
        { lps: 64, work: d.whole(800, 1200), remote: 0.02, end: 150 },
        { hog: { cpus: `${cpu}`, count: 2, from, to: from + d.real(0.8, 1.2) } },
      );
      return {
        sick,
        cured: { ...sick, hog: undefined },
        rule: 'stolen-cpu',
        says: new RegExp(`PE ${cpu} .*CPU ${cpu} `),
        interval: true,
      };
    },
  },
];
