// Two PEs against one, in pairs: a sequential run, two of them at once (the sum of their rates is what two CPUs of this
// machine have to give), and the run on two PEs, in turns. Ratios are of runs of the same turn: medians, quartiles.
import { arguments_, WORKLOADS } from './workloads.mjs';

const phold = (name, end, more = []) => arguments_(WORKLOADS[name], end, more);
const model = (name, end, ...more) => ['sim', 'run', name, `--end=${end}`, ...more, '--json'];
const TWO_PES = ['optimistic', 'conservative'].map((synch) => [`--synch=${synch}`, '--pes=2']);
/** With fewer LPs per KP, fewer events are undone without need. */
const KPS = ['--nkp=64'];
const queueing = (end) => model('queueing', end, '--total-stations=1024');
const torus = (k, end) => model('torus', end, `--k=${k}`);

/** What is run, with what `more` on PEs; `reach` and `aim` are ratios to the sequential run, or to what `against` says. */
const TWO = {
  M: { run: phold('M', 20000), more: KPS, reach: 1, aim: 1.3 },
  L: { run: phold('L', 125), more: KPS, reach: 1.2, aim: 1.5 },
  'M, 1 µs of work': {
    run: phold('M', 5000, ['--work=1']),
    more: KPS,
    reach: 1.6,
    aim: 1.8,
  },
  'torus 16×16': { run: torus(16, 300000), reach: 1.3, aim: 1.7 },
  'torus 64×64': { run: torus(64, 20000), reach: 1.5, aim: 1.7 },
  queueing: { run: queueing(30000), reach: 1.4, aim: 1.7 },
  pcs: { run: model('pcs', 60000), reach: 1.5, aim: 1.8 },
  // Sequential runs of 1 to 3 s, and one of less.
  'short M': { run: phold('M', 16000), more: KPS, reach: 1, aim: 1.4 },
  'short torus 16×16': { run: torus(16, 120000), reach: 1, aim: 1.4 },
  'short queueing': { run: queueing(8000), reach: 1, aim: 1.4 },
  'short pcs': { run: model('pcs', 8000), reach: 1, aim: 1.4 },
  'short M below 1 s': { run: phold('M', 8000), more: KPS, reach: 1, aim: 1.4 },
  'M, remote 0, by two runs': {
    run: [...phold('M', 20000), '--remote=0'],
    against: 'two',
    reach: 0.9,
    aim: 0.95,
  },
  'M, one PE': {
    run: phold('M', 20000),
    ways: [['--synch=optimistic', '--pes=1']],
    reach: 0.85,
    aim: 0.95,
  },
};

const at = (sorted, part) => {
  const place = part * (sorted.length - 1);
  const low = sorted[Math.floor(place)];
  return low + (sorted[Math.ceil(place)] - low) * (place % 1);
};
const quartiles = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((part) => at(sorted, part));
};

const f = (x, width, digits = 2) => x.toFixed(digits).padStart(width);

/**
 * Prints a line per workload and synchroniser.
 * @param run runs the command line and resolves to its JSON
 * @param wanted whether a workload is to be measured, by its name
 */
export async function twoPes(run, turns, wanted) {
  const lines = Object.entries(TWO).filter(([name]) => wanted(name));
  if (lines.length === 0) return;
  console.log(
    'workload                 synchroniser  events  one PE  two runs  2 PEs   by one PE’s          (quartiles)  rolled back  reach   aim',
  );
  console.log(
    '                                         10^6   Mev/s  by one    Mev/s   (limit: 0.9 of two runs)',
  );
  for (const [name, w] of lines) {
    const { ways = TWO_PES, more = [], against = 'one' } = w;
    const [ones, twos] = [[], []];
    const measured = ways.map((way) => ({ way, rates: [], ratios: [], last: null }));
    for (let k = 0; k < turns; k++) {
      const sequential = [...w.run, '--synch=sequential'];
      const one = (await run(sequential)).eventRate / 1e6;
      const pair = await Promise.all([run(sequential), run(sequential)]);
      const two = (pair[0].eventRate + pair[1].eventRate) / 1e6;
      ones.push(one);
      twos.push(two / one);
      for (const m of measured) {
        m.last = await run([...w.run, ...more, ...m.way]);
        if (m.last.eventDigest !== pair[0].eventDigest) throw new Error(`${name}: other events`);
        m.rates.push(m.last.eventRate / 1e6);
        m.ratios.push(m.last.eventRate / 1e6 / (against === 'two' ? two : one));
      }
    }
    const limit = quartiles(twos)[1];
    const reach = against === 'two' ? w.reach : Math.min(w.reach, 0.9 * limit);
    for (const { rates, ratios, last } of measured) {
      const [low, ratio, high] = quartiles(ratios);
      const undone = (100 * last.eventsRolledBack) / last.eventsProcessed;
      console.log(
        `${name.padEnd(25)}${last.synchroniser.padEnd(13)}${f(last.netEvents / 1e6, 7, 1)}${f(quartiles(ones)[1], 8)}${f(limit, 10)}${f(quartiles(rates)[1], 7)}${f(ratio, 14)}          (${f(low, 4)} … ${f(high, 4)})${f(undone, 10, 1)} %${f(reach, 8)}${f(w.aim, 6)}`,
      );
    }
  }
}
