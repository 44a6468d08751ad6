import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import {
  BaseSequencer,
  ForksPoolWorker,
  type PoolOptions,
  type TestSpecification,
} from 'vitest/node';

const dist = (file: string) => fileURLToPath(new URL(`dist/${file}`, import.meta.url));

/** Files that take longer than their size says: vitest begins with the largest. */
const LONG =
  /\/test\/(faults|fuzz|nodes|one-truth|packages|web)\/|\/(mpi|chaos|golden|ross-ctest|log|live|commands|survives|capacity)\.test\.ts$/;

/**
 * Files that run one after another in one process: what a process takes to start and to compile, half a second of a CPU,
 * is then paid once. All others have a process each: those that change what a process has once (the regions' page, a
 * loaded library, signals), that measure it, or that simulate much in it.
 */
const TOGETHER = [
  'test/{findings,formats,fuzz,live,model,os,process,query,report}/**/*.test.ts',
  'test/node/{*,types/**}.test.ts',
  'test/cli/{annotate,auto-pes,beside,clocks,commands,completion,declarations,diff,diff-recordings,documents,export-text,fit,json,node-job,node-types,older-recordings,options,read,recording,ross-ctest,ross-options,shipped,sim-new,tacc,terminal,verify,verify-recording,words}.test.ts',
  'test/{dependencies,reliability/slope}.test.ts',
  'test/region/{hash,native-comments,page-document,{agents,filters,signals}/*}.test.ts',
  'test/web/{align,machine-pure,overview-parts,parts,rebin,timeline-parts}.test.ts',
  'test/sim/{capacity,clock,conservative,finals,gvt-rounds,kp,math-tables,progress,queue,results,struct,struct-undo,ties}.test.ts',
];

/**
 * Begins with the files that share processes, since a process ends before a file that does not; and with those that take long:
 * else one of them is the last, and keeps one worker busy while the others wait.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    const sharing = ({ project }: TestSpecification) => project.config.isolate === false;
    const rank = (file: TestSpecification) => 2 * Number(!sharing(file)) + Number(!isLong(file));
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Processes as of `pool: 'forks'`, but without the module that vitest has Node load first (--require): where one is, threads
 * load the modules of `dist` one by one instead of the script that users' threads run (bin/script.js), 50 ms of a CPU each.
 */
class PlainFork extends ForksPoolWorker {
  // As the pool's: vitest gives a process another file only if they are the same.
  override readonly name = 'plain-forks';

  constructor({ execArgv, ...options }: PoolOptions) {
    const at = execArgv.indexOf('--require');
    super({ ...options, execArgv: at < 0 ? execArgv : execArgv.toSpliced(at, 2) });
  }
}

const PLAIN_FORKS = {
  name: 'plain-forks',
  createPoolWorker: (options: PoolOptions) => new PlainFork(options),
};

// Tests import the built package by its own name, so that they exercise what is shipped, at full speed:
// what lies in dist is imported by Node itself, not transformed.
export default defineConfig({
  resolve: {
    alias: [
      // What is not in the package's front, too: compiled once, and the same modules as behind the front.
      { find: /^(?:\.\.\/)+src\/(.+)\.ts$/, replacement: dist('$1.js') },
      { find: /^triscope$/, replacement: dist('index.js') },
      { find: /^triscope\/sim$/, replacement: dist('sim/index.js') },
      { find: /^triscope\/sim\/parts$/, replacement: dist('sim/parts/index.js') },
      { find: /^triscope\/sim\/networks$/, replacement: dist('sim/networks/index.js') },
      { find: /^triscope\/query$/, replacement: dist('query/index.js') },
      { find: /^triscope\/node$/, replacement: dist('node/index.js') },
      { find: /^triscope\/signals$/, replacement: dist('region/signals/index.js') },
      { find: /^triscope\/region$/, replacement: dist('region/index.js') },
      { find: /^triscope\/live$/, replacement: dist('live/index.js') },
      { find: /^triscope\/formats\/tacc$/, replacement: dist('formats/tacc/index.js') },
      { find: /^triscope\/formats$/, replacement: dist('formats/index.js') },
    ],
  },
  test: {
    projects: [
      { extends: true, test: { name: 'together', include: TOGETHER, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...TOGETHER],
        },
      },
    ],
    // A test that takes longer hangs, on a machine with twenty times its work, too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // What fails once in CI has a second try, which scripts/test.mjs names: seen, but it loses no run.
    retry: process.env.CI ? 1 : 0,
    sequence: { sequencer: LongFirst },
    pool: PLAIN_FORKS,
    // Many tests wait for processes and moments: three share two CPUs well.
    maxWorkers: 3,
    server: { deps: { external: [/\/dist\//] } },
  },
});
