// npm run bench:causes: runs that are slow for a known reason, and healthy ones, and what the findings say of each. Its
// score is written into docs/findings.md with `-- --write`. Needs an idle machine with two CPUs; about seven minutes a seed.
// --seed=N        what parameters are drawn from; several for several scores
// --of=programs   only programs that are not simulations (--of=simulations: only these)
// --only=A,B      causes or healthy runs whose names begin so
// --results=FILE  goes on where the file ends, and adds to it: findings first, then knobs; --within=S starts nothing after so many seconds
// --repeats=N     runs of each setting (3; 0: only the findings)
// --attempts=N    so often a run is tried until nobody else uses the CPUs (3; 1: whatever others do)
// --part=P        so much of each run: for causes that are counted, not timed
// --show          all findings, with their advice
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { examine } from '../../dist/findings/index.js';
import { openRecording } from '../../dist/query/index.js';
import { CAUSES, turned } from './causes.mjs';
import { execute } from './execute.mjs';
import { HEALTHY } from './healthy.mjs';
import { PROGRAM_CAUSES, PROGRAM_HEALTHY } from './programs.mjs';
import { drawing } from './random.mjs';
import { scoreText, writeScore } from './score.mjs';

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', multiple: true, default: ['1'] },
    of: { type: 'string', default: 'all' },
    only: { type: 'string', default: '' },
    results: { type: 'string' },
    within: { type: 'string', default: '100000' },
    repeats: { type: 'string', default: '3' },
    part: { type: 'string', default: '1' },
    attempts: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
  },
});
const begun = performance.now();
const attempts = Number(given.attempts);
const folder = mkdtempSync(join(tmpdir(), 'causes-'));
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const asked = (name) =>
  given.only === '' || given.only.split(',').some((one) => name.startsWith(one));

let results = (() => {
  try {
    return JSON.parse(readFileSync(given.results, 'utf8'));
  } catch {
    return [];
  }
})();

/** What is found in the recording at `path`, and when (s since 1970) its time begins. */
async function findingsOf(path) {
  const recording = await openRecording(path);
  try {
    const { sources } = JSON.parse(readFileSync(join(path, 'recording.json'), 'utf8'));
    const started = Math.min(...sources.map(({ zero }) => Number(zero))) / 1e9;
    const { findings } = await examine(recording, { path });
    return { findings, started };
  } finally {
    await recording.close();
  }
}

let made = 0;
const secondsIn = / from (\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) s\b/;

/** Whether the time that the sentence names is that of what happened: most of each is of both. */
function rightTime(sentence, started, events) {
  const said = secondsIn.exec(sentence);
  if (said === null || events.length === 0) return false;
  const [from, to] = [started + Number(said[1]), started + Number(said[2])];
  const [one] = events;
  const both = Math.min(to, one.to) - Math.max(from, one.from);
  return both > 0.5 * (to - from) && both > 0.5 * (one.to - one.from);
}

const partOf = (run) =>
  given.part === '1'
    ? run
    : run.program !== undefined
      ? { ...run, part: Number(given.part) }
      : turned(run, { end: run.options.end * Number(given.part) });

async function tryCause(seed, { name, draw, lacks }) {
  const lacking = lacks?.() ?? null;
  if (lacking !== null) throw new Error(`not made here: ${lacking}`);
  const drawn = draw(drawing(seed, name));
  const trial = { ...drawn, sick: partOf(drawn.sick), cured: partOf(drawn.cured) };
  const recorded = join(folder, `sick-${made++}`);
  const { events, path, others } = await execute(trial.sick, { recorded, folder, attempts });
  const { findings, started } = await findingsOf(path);
  if (given.show)
    for (const { rule, severity, sentence, advice } of findings)
      console.log(`    ${severity} ${rule}: ${sentence}\n      ${advice}`);
  rmSync(path, { recursive: true });
  const [top] = findings.filter(({ severity }) => severity !== 'info');
  const names = (one) =>
    one?.rule === trial.rule &&
    trial.says.test(`${one.sentence} ${one.advice}`) &&
    (trial.interval !== true || rightTime(one.sentence, started, events));
  const named = names(top);
  const turn = named ? (top.turn ?? null) : null;
  return {
    ...{ seed, name, kind: 'sick', others, named, severity: top?.severity ?? null, turn },
    ...{ says: top?.sentence ?? 'nothing', rule: top?.rule ?? null, found: findings.some(names) },
  };
}

/** Turns what the finding says to turn, where it says it in options, else what the cause was made of; and runs in turns. */
async function tryKnob({ seed, named, turn }, { name, draw }) {
  const { sick, cured } = draw(drawing(seed, name));
  const settings = { sick, healthy: cured };
  if (turn !== null) settings.advised = turned(sick, turn);
  const rates = await ratesOf(settings);
  const advised = turn === null ? 'healthy' : 'advised';
  return {
    ...{ slower: gainOf(rates, 'healthy'), gain: named ? gainOf(rates, advised) : null, rates },
    helps: named && Math.min(...rates[advised]) > Math.max(...rates.sick),
  };
}

/** Events a second of each setting, run in turns. */
async function ratesOf(settings) {
  const names = Object.keys(settings);
  const rates = Object.fromEntries(names.map((name) => [name, []]));
  for (let k = 0; k < Number(given.repeats); k++)
    for (const name of names) {
      const { rate } = await execute(settings[name], { folder, attempts });
      rates[name].push(Number(rate.toPrecision(4)));
    }
  return rates;
}

/** Times as fast as the sick run. */
const gainOf = (rates, which) => median(rates[which]) / median(rates.sick);

async function tryHealthy(seed, { name, draw }) {
  const recorded = join(folder, `healthy-${made++}`);
  const run = draw(drawing(seed, name));
  const { seconds, path, others } = await execute(run, { recorded, folder, attempts });
  const { findings } = await findingsOf(path);
  rmSync(path, { recursive: true });
  const said = findings.filter(({ severity }) => severity !== 'info');
  const of = (severity) => said.filter((one) => one.severity === severity).length;
  return {
    ...{
      seed,
      name,
      kind: 'healthy',
      others,
      seconds,
      problems: of('problem'),
      notices: of('notice'),
    },
    says: said
      .map(({ rule, severity, sentence }) => `${severity} ${rule}: ${sentence}`)
      .join(' | '),
  };
}

const inTime = () => (performance.now() - begun) / 1000 < Number(given.within);
const PROGRAMS = [...PROGRAM_CAUSES, ...PROGRAM_HEALTHY];
const SICK = [...CAUSES, ...PROGRAM_CAUSES];
const kindOf = (one) => (PROGRAMS.includes(one) ? 'programs' : 'simulations');
const all = [...SICK, ...HEALTHY, ...PROGRAM_HEALTHY].filter(
  (one) => asked(one.name) && (given.of === 'all' || given.of === kindOf(one)),
);
const resultOf = (seed, { name }) =>
  results.find((old) => old.seed === seed && old.name === name && old.error === undefined);

async function keep(seed, one, trying) {
  const kind = SICK.includes(one) ? 'sick' : 'healthy';
  const of = kindOf(one);
  const result = await trying().then(
    (found) => ({ ...found, of }),
    ({ message }) => ({ seed, name: one.name, kind, of, error: message }),
  );
  results = [...results.filter((old) => old.seed !== seed || old.name !== one.name), result];
  console.log(lineOf(result));
  if (given.results !== undefined) writeFileSync(given.results, JSON.stringify(results, null, 1));
}

try {
  for (const seed of given.seed.map(Number)) {
    for (const one of all) {
      if (resultOf(seed, one) !== undefined || !inTime()) continue;
      await keep(seed, one, () => (SICK.includes(one) ? tryCause : tryHealthy)(seed, one));
    }
    for (const one of all.filter((each) => SICK.includes(each) && given.repeats !== '0')) {
      const old = resultOf(seed, one);
      if (old === undefined || old.rates !== undefined || !inTime()) continue;
      const unmeasured = ({ message }) => ({ unmeasured: message });
      await keep(seed, one, async () => ({
        ...old,
        ...(await tryKnob(old, one).catch(unmeasured)),
      }));
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`\n${scoreText(results)}`);
if (given.write) writeScore(results);

function lineOf(r) {
  if (r.error !== undefined) return `${r.seed} ${r.name}: ${r.error}`;
  const noise = `others ${r.others.toFixed(2)} CPUs`;
  if (r.kind === 'healthy')
    return `${r.seed} ${r.name} (${r.seconds.toFixed(1)} s, ${noise}): ${r.says || 'well'}`;
  const slower =
    r.slower === undefined
      ? r.unmeasured === undefined
        ? ''
        : `, setting ${r.unmeasured}`
      : `, ${r.slower.toFixed(2)} times slower`;
  const gain =
    r.gain == null ? '' : `, knob ${r.gain.toFixed(2)}${r.helps ? '' : ' (within noise)'}`;
  return `${r.seed} ${r.name}: ${r.named ? 'named' : r.found ? 'named, but not first' : 'NOT NAMED'} (${noise})${slower}${gain}: ${r.severity} ${r.rule}: ${r.says}`;
}
