/** The files of a new model, to be edited: it runs, type-checks, and has a test. */

const model = (
  name: string,
) => `/** ${name}: customers come to counters, wait in line and are served. Each LP is a counter. */
import { defineModel, float, int } from 'triscope/sim';

const ARRIVAL = 0;
const DEPARTURE = 1;

export default defineModel({
  name: '${name}',
  help: 'customers wait in line at counters (M/M/1)',
  options: {
    counters: int(8, 'how many counters there are', { min: 1 }),
    arrivals: float(0.5, 'customers per unit of time, at each counter', { min: 0 }),
    service: float(1, 'mean time to serve one', { min: 0 }),
  },
  lps: (options) => options.counters,
  end: 2000,

  // All state that changes during a run: the engine undoes changes when it has to.
  state: {
    present: 'u32',
    served: 'u32',
    /** Time of the last change, and the integral of \`present\` until then. */
    since: 'f64',
    area: 'f64',
  },
  message: { kind: 'u8' },

  init(lp) {
    lp.send(lp.id, lp.exponential(1 / lp.params.arrivals)).kind = ARRIVAL;
  },
  forward(lp, message) {
    const { state, params } = lp;
    state.area += state.present * (lp.now - state.since);
    state.since = lp.now;
    if (message.kind === ARRIVAL) {
      lp.send(lp.id, lp.exponential(1 / params.arrivals)).kind = ARRIVAL;
      state.present++;
      if (state.present === 1) lp.send(lp.id, lp.exponential(params.service)).kind = DEPARTURE;
    } else {
      state.served++;
      state.present--;
      if (state.present > 0) lp.send(lp.id, lp.exponential(params.service)).kind = DEPARTURE;
    }
  },
  final(lp, results) {
    results.add('served', lp.state.served);
    results.add('area', lp.state.area);
    results.add('time', lp.state.since);
  },
});
`;

const test = (name: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { simulate } from 'triscope/sim';

const model = fileURLToPath(new URL('${name}.ts', import.meta.url));

test('as many customers are present as theory has it', async () => {
  const { results } = await simulate(model);
  const load = 0.5 * 1;
  const mean = results.totals.area / results.totals.time;
  assert.ok(Math.abs(mean - load / (1 - load)) < 0.1, \`\${mean} customers\`);
});

test('two PEs commit the same events as one', async () => {
  const settings = { end: 200 };
  const one = await simulate(model, settings);
  const two = await simulate(model, { ...settings, synch: 'optimistic', pes: 2 });
  assert.equal(two.eventDigest, one.eventDigest);
  assert.equal(two.stateDigest, one.stateDigest);
  assert.deepEqual(two.results, one.results);
});
`;

const settings = (
  name: string,
) => `# Settings of a run: triscope sim run ${name}.ts --args-file=${name}.args
--counters=8 --arrivals=0.5 --service=1
--end=2000
# --pes=2 --synch=optimistic
`;

const manifest = (name: string, version: string) => ({
  name,
  private: true,
  type: 'module',
  scripts: {
    start: `triscope sim run ${name}.ts --args-file=${name}.args`,
    check: 'tsc',
    verify: `triscope sim verify ${name}.ts --end=200`,
    test: 'node --test',
  },
  dependencies: { triscope: `^${version}` },
  devDependencies: { '@types/node': '^20.19.0', typescript: '^6.0.0' },
});

const COMPILER = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    lib: ['ES2023'],
    module: 'nodenext',
    types: ['node'],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
};

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** Files of a new model, by name: the model, its test, its settings, and the files for npm and TypeScript. */
export const newModel = (name: string, version: string): Readonly<Record<string, string>> => ({
  [`${name}.ts`]: model(name),
  [`${name}.test.mjs`]: test(name),
  [`${name}.args`]: settings(name),
  'package.json': json(manifest(name, version)),
  'tsconfig.json': json(COMPILER),
});
