/** The daemon and the sinks that its groups go to. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Daemon,
  type DaemonOptions,
  type GroupFacts,
  type GroupSink,
  JobList,
  LogError,
  NodeLog,
  NodeTree,
  Sampling,
} from 'triscope/node';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { endMissed } from '../../dist/node/missed-ends.js';
import { slurmJobs } from '../../dist/node/slurm.js';
import { readFile, treeOf } from './support/raw.ts';

const here = mkdtempSync(join(tmpdir(), 'triscope-daemon-'));
afterAll(() => rmSync(here, { recursive: true }));

const root = treeOf(join(here, 'tree'), 2);

interface Given extends GroupFacts {
  readonly text: string;
}

/** A sink that remembers. */
function memory(): GroupSink & { readonly given: Given[]; closed: boolean } {
  const given: Given[] = [];
  return {
    name: 'memory',
    given,
    closed: false,
    write: (bytes, facts) => given.push({ ...facts, text: Buffer.from(bytes).toString() }),
    async close() {
      await new Promise((resolve) => setTimeout(resolve, 10));
      this.closed = true;
    },
  };
}

let folders = 0;
function options(more: Partial<DaemonOptions>): DaemonOptions & { readonly said: string[] } {
  const folder = join(here, `case${folders++}`);
  const said: string[] = [];
  return {
    freq: 0.02,
    buffer: 10,
    open: () => new Sampling({ root, types: ['cpu'] }),
    log: null,
    sinks: [],
    jobs: { list: null, file: `${folder}.jobid` },
    pmc: null,
    rotate: 86_400,
    marksRotation: true,
    count: 3,
    say: (line) => said.push(line),
    said,
    ...more,
  };
}

describe('a sink', () => {
  it('gets the header with the first group, then groups as messages have them', async () => {
    const sink = memory();
    const result = await new Daemon(options({ sinks: [sink] })).run();
    expect(result).toEqual({ groups: 3, missed: result.missed, lost: 0, unlogged: 0 });
    expect(sink.given.map(({ header, host }) => [header, host])).toEqual([
      [true, 'c1'],
      [false, 'c1'],
      [false, 'c1'],
    ]);
    expect(sink.given[0].text).toMatch(
      /^\$tacc_stats 1\.0\.2\n\$hostname c1\n(.*\n)+\n\d+ -\ncpu 0 /,
    );
    expect(sink.given[1].text).toMatch(/^\n\d+ -\ncpu 0 0 2 3 4 5 6 7\ncpu 1 1 2 3 4 5 6 7\n$/);
    expect(sink.closed).toBe(true);
  });

  it('that keeps groups has what a log on a full disk lacks: published, not lost', async () => {
    const lacking = () => {
      const log = new NodeLog(join(here, 'full'));
      log.locked = () => {
        throw new LogError('no space is left on its disk');
      };
      return log;
    };
    const kept = Object.assign(memory(), { lost: 0 });
    const asked = (sink: GroupSink) => new Daemon(options({ log: lacking(), sinks: [sink] })).run();
    expect(await asked(kept)).toMatchObject({ groups: 3, lost: 0, unlogged: 3 });
    expect(kept.given).toHaveLength(3);
    expect(await asked(memory())).toMatchObject({ groups: 3, lost: 3, unlogged: 0 });
  });

  it('gets the header again after rotation', async () => {
    const sink = memory();
    await new Daemon(options({ sinks: [sink], rotate: 0.03, count: 6 })).run();
    const heads = sink.given.filter(({ header }) => header);
    expect(heads.length).toBeGreaterThan(1);
    expect(heads[1].text).toContain('\n%rotate -\n');
  });

  it('that fails is reported once, and harms neither the log nor the others', async () => {
    const log = new NodeLog(join(here, 'failing'));
    const bad: GroupSink = {
      name: 'bad',
      write: () => {
        throw new Error('the broker is away');
      },
      close: () => {},
    };
    const good = memory();
    const all = options({ log, sinks: [bad, good] });
    await new Daemon(all).run();
    expect(all.said).toEqual(['bad: the broker is away']);
    expect(good.given).toHaveLength(3);
    expect(readFile(join(here, 'failing', 'current')).groups).toHaveLength(3);
  });

  it('hears of jobs that begin and end by command, which the log knows already', async () => {
    const folder = join(here, 'listed');
    const log = new NodeLog(folder);
    const list = new JobList(join(folder, 'jobs'));
    const sink = memory();
    const all = options({ log, sinks: [sink], jobs: { list, file: '/nowhere' } });
    const daemon = new Daemon({ ...all, freq: 0.1, count: Number.POSITIVE_INFINITY });
    const run = daemon.run();
    const until = async (mark: string) => {
      while (!sink.given.some(({ text }) => text.includes(mark))) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    await until('cpu');
    list.add('31');
    await until('%begin 31');
    list.remove('31');
    await until('%end 31');
    daemon.stop();
    await run;
    const marked = sink.given.filter(({ text }) => text.includes('%'));
    expect(marked.map(({ text }) => text.split('\n').slice(1, 3))).toEqual([
      [expect.stringMatching(/^\d+ 31$/), '%begin 31'],
      [expect.stringMatching(/^\d+ 31$/), '%end 31'],
    ]);
    const { groups } = readFile(join(folder, 'current'));
    expect(groups.flatMap(({ marks }) => marks)).toEqual([]);
  });
});

describe('samples', () => {
  it('are taken when the clock is at multiples of the period, the first at once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      vi.setSystemTime(1_772_366_403_210);
      const at: number[] = [];
      const sink = { name: 'clock', write: () => void at.push(Date.now()), close: () => {} };
      const run = new Daemon(options({ sinks: [sink], freq: 10, count: 4 })).run();
      await vi.advanceTimersByTimeAsync(30_000);
      expect(await run).toMatchObject({ groups: 4, missed: 0 });
      expect(at.map((time) => time - 1_772_366_400_000)).toEqual([3210, 10_000, 20_000, 30_000]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('while no job runs', () => {
  it('samples are taken at a slower pace, which a job’s begin and end change', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      vi.setSystemTime(1_772_366_400_000);
      const at: number[] = [];
      const sink = { name: 'clock', write: () => void at.push(Date.now()), close: () => {} };
      const list = new JobList(join(here, 'idle', 'running'));
      const all = options({ sinks: [sink], freq: 10, idle: 60, jobs: { list, file: '/nowhere' } });
      const daemon = new Daemon({ ...all, count: Number.POSITIVE_INFINITY });
      const run = daemon.run();
      await vi.advanceTimersByTimeAsync(124_500);
      list.add('7');
      await vi.advanceTimersByTimeAsync(20_000);
      list.remove('7');
      await vi.advanceTimersByTimeAsync(50_000);
      daemon.stop();
      expect(await run).toMatchObject({ missed: 0, lost: 0 });
      const seconds = at.slice(0, -1).map((time) => (time - 1_772_366_400_000) / 1000);
      expect(seconds).toEqual([0, 60, 120, 125, 130, 140, 145, 180]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a job whose end nobody said', () => {
  const tree = treeOf(join(here, 'slurm'), 1);
  const scope = join(tree, 'sys/fs/cgroup/system.slice/slurmstepd.scope');
  mkdirSync(join(scope, 'job_8', 'step_extern'), { recursive: true });
  const jobs = (name: string, ages: Readonly<Record<string, number>>) => {
    const list = new JobList(join(here, name));
    for (const [id, minutes] of Object.entries(ages)) {
      list.add(id);
      const file = readdirSync(list.path).find((each) =>
        each.endsWith(`.${encodeURIComponent(id)}`),
      );
      const then = Date.now() / 1000 - 60 * minutes;
      utimesSync(join(list.path, String(file)), then, then);
    }
    return list;
  };

  it('is over where Slurm no longer runs it, some time after its begin', async () => {
    const list = jobs('over', { 7: 90, 8: 80, '9_1': 70, 10: 1 });
    const sink = memory();
    const all = options({ sinks: [sink], jobs: { list, file: '/nowhere' }, count: 1 });
    await new Daemon({ ...all, open: () => new Sampling({ root: tree, types: ['cpu'] }) }).run();
    expect(all.said).toEqual(['job 7 is over, and its end was missed: Slurm no longer runs it']);
    expect(sink.given[0].text).toMatch(/\n\d+ 8,9_1,10\ncpu/);
    expect(list.read()).toEqual(['8', '9_1', '10']);
  });

  it('goes on where Slurm does not tell all of its jobs, until it is too old', () => {
    const list = jobs('old', { 7: 90, 6: 31 * 1440 });
    const said: string[] = [];
    const sources = { list, file: '/nowhere', say: (line: string) => said.push(line) };
    rmSync(join(scope, 'job_8'), { recursive: true });
    expect(endMissed(sources, new NodeTree(tree))).toEqual(['6']);
    expect(said).toEqual([
      'job 6 is over, and its end was missed: it began 30 days ago or earlier',
    ]);
    // Without a job here, Slurm's configuration says whether each job has a control group.
    mkdirSync(join(tree, 'etc', 'slurm'), { recursive: true });
    writeFileSync(join(tree, 'etc/slurm/slurm.conf'), 'PrologFlags=Alloc,Contain\n');
    expect(endMissed(sources, new NodeTree(tree))).toEqual(['7']);
  });

  it('is looked for in control groups of version 1, too', () => {
    const one = treeOf(join(here, 'slurm1'), 1);
    expect(slurmJobs(new NodeTree(one))).toBeNull();
    const job = 'sys/fs/cgroup/memory/slurm_c1/uid_1000/job_12/step_extern';
    mkdirSync(join(one, job), { recursive: true });
    expect(slurmJobs(new NodeTree(one))).toEqual(new Set(['12']));
  });
});

describe('a type that fails', () => {
  it('is reported when it begins to, and when it works again', async () => {
    const changing = treeOf(join(here, 'changing'), 1);
    const stat = join(changing, 'proc', 'stat');
    const all = options({
      open: () => new Sampling({ root: changing, types: ['cpu', 'cpu_steal'] }),
      count: Number.POSITIVE_INFINITY,
    });
    const daemon = new Daemon(all);
    const run = daemon.run();
    const said = async (count: number) => {
      while (all.said.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
      await new Promise((resolve) => setTimeout(resolve, 60));
    };
    writeFileSync(stat, 'btime 1\n');
    await said(2);
    expect(all.said.map((line) => line.split(':')[0])).toEqual([
      'no records of type cpu',
      'no records of type cpu_steal',
    ]);
    writeFileSync(stat, 'cpu0 1 2 3 4 5 6 7 8\n');
    await said(4);
    expect(all.said.slice(2)).toEqual([
      'no records of type cpu: works again',
      'no records of type cpu_steal: works again',
    ]);
    daemon.stop();
    await run;
  });
});
