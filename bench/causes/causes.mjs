// Runs that are slow for a known reason, because the reason was made. A cause draws its parameters and returns how to run it
// sick, how to run it with the setting changed, and what the first finding has to say. `lacks` says why it cannot be made here, or is
// null. Options of the model: model.mjs.
import { fileURLToPath } from 'node:url';
import { lacksGroups } from './around.mjs';
import { lacksHosts } from './hosts.mjs';

const MODEL = fileURLToPath(new URL('model.mjs', import.meta.url));

/** Sampled as a user would who wants to find the reason. */
const SAMPLED = ['--engine-stats=rt', '--rt-interval=50', '--node-stats=50'];
export const RECORDED = [...SAMPLED, '--lp-data'];

const sim = (options, more = {}) => ({
  command: ['sim', 'run', MODEL],
  options: { pes: 2, end: 100, ...options },
  recorded: RECORDED,
  ...more,
});

/** The same with other options; options that are null are removed. */
export const turned = (run, options, more = {}) => ({
  ...run,
  options: { ...run.options, ...options },
  ...more,
});

/** A program beside this file, recorded like any other. */
const program = (name, ...words) => [
  process.execPath,
  fileURLToPath(new URL(name, import.meta.url)),
  ...words.map(String),
];

const UNBOUNDED = 1e9;

/** Few events far apart, half of them for the other PE: a PE that may run ahead is soon wrong. */
const sparse = (d) => ({
  ...{ lps: 16, 'start-events': 1, least: 1, end: 16_000 },
  ...{ work: d.whole(1000, 1500), remote: d.real(0.4, 0.5) },
});

export const CAUSES = [
  {
    name: 'skewed map',
    draw: (d) => {
      const lps = d.pick(64, 128);
      const options = { lps, work: d.whole(1000, 1500), remote: 0.02, end: 76_800 / lps };
      const sick = sim(options, { env: { CAUSES_MAP: 'skewed' } });
      const says = /PE 0 .*of the LPs, .*same number of LPs/;
      return { sick, cured: { ...sick, env: {} }, rule: 'imbalance', says };
    },
  },
  {
    name: 'skewed traffic',
    draw: (d) => {
      const crowd = d.real(0.75, 0.9);
      const lps = d.pick(64, 128);
      const options = { lps, work: d.whole(1000, 1500), crowd, remote: 0.02 };
      const sick = sim({ ...options, end: 76_800 / lps });
      const cured = { ...sick, env: { CAUSES_MAP: 'dealt' } };
      return { sick, cured, rule: 'imbalance', says: /PE 0 .*handle more events/ };
    },
  },
  {
    name: 'one hot LP',
    draw: (d) => {
      const hot = d.real(0.5, 0.7);
      const sick = sim({ lps: 64, work: d.whole(1000, 1500), hot, remote: 0.02, end: 1200 });
      return { sick, cured: turned(sick, { hot: 0 }), rule: 'imbalance', says: /LP 0 alone/ };
    },
  },
  {
    name: 'batch too large',
    draw: (d) => {
      const options = { lps: 1024, work: d.whole(300, 500), least: 0, remote: d.real(0.45, 0.6) };
      const large = { 'start-events': 1, batch: d.pick(1024, 2048), 'gvt-interval': 2, end: 1000 };
      const sick = sim({ ...options, ...large });
      const cured = turned(sick, { batch: 16, 'gvt-interval': 16 });
      return { sick, cured, rule: 'optimism', says: /--batch=/ };
    },
  },
  {
    name: 'GVT interval too small',
    draw: (d) => {
      // Without a lookahead: threads that go on in step with each other do not wait for GVTs.
      const options = { lps: 256, work: d.whole(0, 20), least: 2 };
      const sick = sim({ ...options, 'gvt-interval': 1, batch: d.pick(1, 2), end: 6000 });
      const cured = turned(sick, { 'gvt-interval': 16, batch: 16 });
      return { sick, cured, rule: 'gvt-interval', says: /of their time computing .* GVTs/ };
    },
  },
  {
    name: 'GVT interval too large',
    draw: (d) => {
      const rare = { 'gvt-interval': d.pick(1024, 4096), 'max-opt-lookahead': UNBOUNDED };
      const sick = sim({ ...sparse(d), ...rare });
      const cured = turned(sick, { 'gvt-interval': 16, 'max-opt-lookahead': null });
      return { sick, cured, rule: 'optimism', says: /--gvt-interval=/ };
    },
  },
  {
    name: 'one KP',
    draw: (d) => {
      const lps = d.pick(768, 1024);
      const options = { lps, 'start-events': 1, least: 0.01, 'gvt-interval': 120, nkp: 1 };
      const drawn = { remote: d.real(0.4, 0.45), work: d.whole(550, 700) };
      const sick = sim({ ...options, ...drawn, end: 1_024_000 / lps });
      const cured = turned(sick, { nkp: 128 });
      return { sick, cured, rule: 'false-rollbacks', says: /LPs share a KP/ };
    },
  },
  {
    name: 'far too many KPs',
    draw: (d) => {
      const options = { lps: 32768, 'start-events': 1, work: 0, least: 1, lookahead: 1 };
      const often = { remote: 0.02, nkp: 16384, batch: d.pick(2, 4), 'gvt-interval': 4 };
      // Samples of so many LPs would slow the run themselves.
      const sick = sim({ ...options, ...often, end: 900 }, { recorded: SAMPLED });
      return { sick, cured: turned(sick, { nkp: 16 }), rule: 'too-many-kps', says: /--nkp/ };
    },
  },
  {
    name: 'optimism unbounded',
    draw: (d) => {
      const sick = sim({ ...sparse(d), 'max-opt-lookahead': UNBOUNDED });
      const cured = turned(sick, { 'max-opt-lookahead': null });
      return { sick, cured, rule: 'optimism', says: /--max-opt-lookahead/ };
    },
  },
  {
    name: 'tiny lookahead, conservative',
    draw: (d) => {
      const least = d.real(0.4, 1.2);
      const lookahead = d.real(0.001, 0.01);
      const sick = sim({ synch: 2, lps: 64, work: d.whole(20, 60), least, lookahead, end: 5000 });
      const says = new RegExp(`a delay below ${String(least).slice(0, 3)}`);
      return { sick, cured: turned(sick, { lookahead: least }), rule: 'lookahead', says };
    },
  },
  {
    name: 'all events to other PEs',
    draw: (d) => {
      const options = { lps: 64, work: 0, partner: 1, remote: 0, least: 1, lookahead: 1 };
      const sick = sim({ ...options, batch: d.pick(2, 4), end: 60_000 });
      const cured = { ...sick, env: { CAUSES_MAP: 'dealt' } };
      return { sick, cured, rule: 'network-bound', says: /arrive from other PEs/ };
    },
  },
  {
    name: 'more PEs than CPUs',
    draw: (d) => {
      const sick = sim({ pes: d.pick(4, 6), lps: 96, work: d.whole(300, 600), end: 1500 });
      const says = /PEs take turns on 2 CPUs/;
      return { sick, cured: turned(sick, { pes: 2 }), rule: 'stolen-cpu', says };
    },
  },
  {
    name: 'two PEs on one CPU',
    draw: (d) => {
      const sick = sim({ lps: 64, work: d.whole(300, 600), end: 1500 }, { cpus: d.pick('0', '1') });
      const says = /2 PEs take turns on 1 CPU /;
      return { sick, cured: { ...sick, cpus: undefined }, rule: 'stolen-cpu', says };
    },
  },
  {
    name: 'hog on one CPU for a known interval',
    draw: (d) => {
      const cpu = d.pick(0, 1);
      const from = d.real(0.9, 1.2);
      const hog = { cpus: `${cpu}`, count: 3, from, to: from + d.real(1, 1.3) };
      const sick = sim({ lps: 64, work: d.whole(800, 1200), remote: 0.02, end: 1500 }, { hog });
      const says = new RegExp(`PE ${cpu} .*CPU ${cpu} `);
      const cured = { ...sick, hog: undefined };
      return { sick, cured, rule: 'stolen-cpu', says, interval: true };
    },
  },
  {
    name: 'a slow network between hosts',
    lacks: lacksHosts,
    draw: (d) => {
      const options = { lps: 64, work: d.whole(500, 800), remote: 0.1, end: 240, pes: null };
      const sick = sim(options, { delay: d.real(0.006, 0.01) });
      const says = /causes-a to causes-b and back takes/;
      return { sick, cured: { ...sick, delay: 0 }, rule: 'slow-link', says };
    },
  },
  {
    name: 'quota of a control group',
    lacks: lacksGroups,
    draw: (d) => {
      const group = { quota: d.real(0.5, 1.2) };
      const sick = sim({ lps: 64, work: d.whole(300, 600), remote: 0.02, end: 1500 }, { group });
      const says = /Control group .*triscope-causes.* may use/;
      return { sick, cured: { ...sick, group: undefined }, rule: 'cpu-quota', says };
    },
  },
  {
    name: 'weight of a control group',
    lacks: lacksGroups,
    draw: (d) => {
      const around = { group: { weight: d.pick(10, 20) }, hog: { cpus: '0,1', count: 2 } };
      const sick = sim({ lps: 64, work: d.whole(300, 600), remote: 0.02, end: 200 }, around);
      const says = /triscope-causes.* has weight \d+/;
      return { sick, cured: { ...sick, group: { weight: 1000 } }, rule: 'stolen-cpu', says };
    },
  },
  {
    name: 'stopped for 2 s',
    draw: (d) => {
      const from = d.real(0.9, 1.2);
      const stop = { from, to: from + 2 };
      const sick = sim({ lps: 64, work: d.whole(800, 1200), remote: 0.02, end: 1300 }, { stop });
      const cured = { ...sick, stop: undefined };
      return { sick, cured, rule: 'pause', says: /stood still/, interval: true };
    },
  },
  {
    name: 'event memory too small',
    draw: (d) => {
      const options = { lps: 64, 'start-events': 16, work: d.whole(100, 200), least: 0.2 };
      const small = { 'max-memory': d.pick(100_000, 120_000), 'gvt-interval': 256 };
      const window = { remote: d.real(0.1, 0.2), 'max-opt-lookahead': 50, end: 2400 };
      const sick = sim({ ...options, ...small, ...window });
      const cured = turned(sick, { 'max-memory': null });
      return { sick, cured, rule: 'memory-pressure', says: /Event memory is too small/ };
    },
  },
  {
    name: 'a machine short of memory',
    lacks: lacksGroups,
    draw: (d) => {
      const reread = program('reread.mjs', d.whole(150, 180), 7);
      const sick = { program: reread, memory: 160e6, options: { every: 0.2 } };
      const says = /Memory is short/;
      return { sick, cured: { ...sick, memory: 900e6 }, rule: 'memory-stall', says };
    },
  },
  {
    name: 'a slow disk under the recorder',
    draw: (d) => {
      const options = { lps: 64, work: d.whole(100, 200), 'buffer-size': 100_000, remote: 0.02 };
      const recorded = [...RECORDED, '--event-trace=all'];
      const around = { disk: d.whole(1_500_000, 3_000_000), alwaysSampled: true, recorded };
      const sick = sim({ ...options, end: 700 }, around);
      const says = /waited for the recorder .*evtrace/;
      return { sick, cured: { ...sick, recorded: RECORDED }, rule: 'instrumentation', says };
    },
  },
  {
    name: 'recording too much',
    draw: (d) => {
      const options = { lps: d.pick(2048, 4096), 'start-events': 1, work: d.whole(0, 20) };
      const often = { least: 1, lookahead: 1, remote: 0.02, 'gvt-interval': 4, end: 400 };
      const recorded = ['--engine-stats=gvt', '--num-gvt=1', '--lp-data', '--node-stats=50'];
      const sick = sim({ ...options, ...often }, { alwaysSampled: true, recorded });
      const says = /taking samples|waited for the recorder/;
      return { sick, cured: { ...sick, recorded: RECORDED }, rule: 'instrumentation', says };
    },
  },
  {
    name: 'a starved sequential run',
    draw: (d) => {
      const around = { cpus: '1', hog: { cpus: '1', count: d.pick(2, 3) } };
      const sick = sim({ pes: 1, lps: 64, work: d.whole(300, 600), end: 900 }, around);
      const says = /PE 0 could not run/;
      return { sick, cured: { ...sick, hog: undefined }, rule: 'stolen-cpu', says };
    },
  },
  {
    name: 'slow handlers of one type of LP',
    draw: (d) => {
      const work = d.whole(20, 60);
      const slow = { slow: d.whole(1500, 2500), 'slow-lps': 0.25 };
      const sick = sim({ lps: 64, work, ...slow, remote: 0.02, end: 3000 });
      const says = /type slow costs .*PE 1 /;
      return { sick, cured: turned(sick, { slow: work }), rule: 'slow-handlers', says };
    },
  },
  {
    name: 'cascades by a late PE',
    draw: (d) => {
      const cpu = d.pick(0, 1);
      const options = { lps: 64, work: d.whole(200, 400), least: 0.1, remote: d.real(0.1, 0.2) };
      const hog = { cpus: `${cpu}`, count: 3 };
      const sick = sim({ ...options, 'max-opt-lookahead': 10, end: 1000 }, { hog });
      const says = new RegExp(`PE ${cpu} could not run.*(falls behind|its late events)`);
      return { sick, cured: { ...sick, hog: undefined }, rule: 'stolen-cpu', says };
    },
  },
];
