/** The collector on this machine, on recorded trees, and beside a run. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { RawParser } from 'triscope/formats/tacc';
import { Collection, NODE_TYPES, NodeSampler, SamplerError, UnknownTypeError } from 'triscope/node';
import { afterAll, describe, expect, it } from 'vitest';
import { triscope } from '../cli/support/run.ts';
import { until } from '../support/until.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const folder = mkdtempSync(join(tmpdir(), 'triscope-node-'));
const isLinux = process.platform === 'linux';

/** A tree with this text as /proc/stat. */
function tree(name: string, stat: string): string {
  mkdirSync(join(folder, name, 'proc'), { recursive: true });
  writeFileSync(join(folder, name, 'proc', 'stat'), stat);
  return join(folder, name);
}

function collected(root: string, types: readonly string[] = []): string {
  let text = '';
  const sink = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString();
  };
  const collection = new Collection(sink, { root, types });
  collection.collect(['7']);
  collection.close();
  return text;
}

const records = (text: string, type: string) =>
  text.split('\n').filter((line) => line.startsWith(`${type} `));

describe('the types', () => {
  it('are in order, and declare what raw schemas can say', () => {
    const names = NODE_TYPES.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    for (const { metrics } of NODE_TYPES) {
      for (const { key, cell } of metrics) {
        expect(key).toMatch(/^\w+$/);
        expect(cell).toBe('u64');
      }
    }
  });
});

describe('cpu', () => {
  const CPUS = ['cpu', 'cpu_steal'];
  const STAT = `cpu  3 0 0 0 0 0 0 0 0 0
cpu0 44490 19 21045 1087069 220 1 3410 7 8 9
cpu3 18446744073709551615 0 0 0 0 0 0 1 2 3
intr 12 13
`;

  it('copies seven fields of each CPU, digit by digit', () => {
    const text = collected(tree('two', STAT), ['cpu']);
    expect(records(text, 'cpu')).toEqual([
      'cpu 0 44490 19 21045 1087069 220 1 3410',
      'cpu 3 18446744073709551615 0 0 0 0 0 0',
    ]);
  });

  it('leaves what hypervisors take to cpu_steal', () => {
    const text = collected(tree('two', STAT), ['cpu_steal']);
    expect(records(text, 'cpu_steal')).toEqual(['cpu_steal 0 7 8 9', 'cpu_steal 3 1 2 3']);
  });

  it('gives 0 for fields that an old kernel lacks, as the original does', () => {
    const text = collected(tree('old', 'cpu 1 2 3 4\ncpu0 1 2 3 4\n'), ['cpu']);
    expect(records(text, 'cpu')).toEqual(['cpu 0 1 2 3 4 0 0 0']);
  });

  it('reads a file longer than its buffer', () => {
    const lines = Array.from({ length: 2000 }, (_, k) => `cpu${k} ${k} 0 0 0 0 0 0 0 0 0\n`);
    const text = collected(tree('many', lines.join('')), ['cpu']);
    expect(records(text, 'cpu')).toHaveLength(2000);
    expect(records(text, 'cpu')[1999]).toBe('cpu 1999 1999 0 0 0 0 0 0');
  });

  it('reports a file without CPUs, and does not stop the other types', () => {
    const failed: string[] = [];
    const collection = new Collection(() => {}, { root: tree('none', 'btime 1\n'), types: CPUS });
    collection.collect([], undefined, ({ type }) => failed.push(type));
    expect(failed).toEqual(['cpu', 'cpu_steal']);
    expect(collection.failures.get('cpu')).toBe(1);
  });

  it('is absent where there is no /proc/stat', () => {
    const collection = new Collection(() => {}, { root: join(folder, 'nowhere'), types: CPUS });
    expect(collection.types).toEqual([]);
    expect(collection.absent.map(({ type }) => type)).toEqual(['cpu', 'cpu_steal']);
    expect(() => new Collection(() => {}, { types: ['cup'] })).toThrow(UnknownTypeError);
  });
});

describe.skipIf(GOLDEN === undefined)('recorded trees', () => {
  const unpack = (archive: string, name: string) => {
    const into = join(folder, name);
    mkdirSync(into, { recursive: true });
    execFileSync('tar', ['-xzf', join(GOLDEN ?? '', archive), '-C', into]);
    return into;
  };

  it('gives the lines that the original gave, from the same trees', () => {
    for (const fixture of ['fixture_snb_v2.3.0', 'fixture_amd10h_v1.0.2']) {
      const at = join('tacc_stats', fixture);
      const trees = unpack(join(at, 'trees.tar.gz'), fixture);
      const [file] = execFileSync('find', [join(GOLDEN ?? '', at), '-path', '*example/1*'], {
        encoding: 'utf8',
      }).split('\n');
      const groups = readFileSync(file, 'utf8').split('\n\n').slice(1);
      expect(groups).toHaveLength(4);
      groups.forEach((group, k) => {
        const ours = collected(join(trees, `tree${k}`), ['cpu']);
        expect(records(ours, 'cpu').sort()).toEqual(records(group, 'cpu').sort());
      });
    }
  });

  it('reads a machine of 8 CPUs', () => {
    const root = unpack(join('node-trees', 'ib-nfs-powercap.tar.gz'), 'mixed');
    const lines = records(collected(root, ['cpu']), 'cpu');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe('cpu 0 44490 19 21045 1087069 220 1 3410');
  });
});

describe.skipIf(!isLinux)('the sampler', () => {
  it('writes FOLDER/HOST/SECOND: header, begin, samples at even times, end', async () => {
    const told: Uint8Array[] = [];
    const sampler = await NodeSampler.start({
      folder: join(folder, 'run', 'node'),
      interval: 20,
      jobId: '42',
      types: ['cpu', 'cpu_steal'],
      onBytes: (bytes) => told.push(bytes),
    });
    await until(() => told.length > 10);
    const result = await sampler.stop();
    const text = readFileSync(sampler.file, 'utf8');
    expect(basename(dirname(sampler.file))).toBe(sampler.host);
    expect(basename(sampler.file)).toMatch(/^\d{10}$/);
    expect(Buffer.concat(told).toString()).toBe(text);
    const marks: string[] = [];
    const times: number[] = [];
    const problems: string[] = [];
    const parser = new RawParser({
      mark: (mark) => marks.push(mark),
      group: ({ seconds, jobIds }) => {
        times.push(seconds);
        expect(jobIds).toEqual(['42']);
      },
      problem: ({ reason }) => problems.push(reason),
    });
    parser.push(Buffer.from(text));
    const { records: count, groups } = parser.end();
    expect(problems).toEqual([]);
    expect(marks).toEqual(['begin 42', 'end 42']);
    expect(groups).toBe(result.groups);
    expect(groups + result.missed).toBeGreaterThan(10);
    expect(count).toBe(groups * sampler.types.length * cpus(text));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(result.failures.size).toBe(0);
  });

  it('calls the host by its full name', async () => {
    const root = mkdtempSync(join(folder, 'named-'));
    for (const [path, text] of Object.entries({
      'proc/sys/kernel/hostname': 'c401-101\n',
      'proc/stat': 'cpu0 1 2 3 4 5 6 7\n',
      'etc/hosts': '10.0.0.1 c401-101.example.org c401-101\n',
    })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const sampler = await NodeSampler.start({ folder, interval: 20, jobId: '1', root });
    await sampler.stop();
    expect(sampler.host).toBe('c401-101.example.org');
    expect(sampler.file).toContain(`/${sampler.host}/`);
    expect(readFileSync(sampler.file, 'utf8')).toContain('$hostname c401-101.example.org\n');
  });

  it('says why it cannot write', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const start = NodeSampler.start({ folder: file, interval: 20, jobId: '1' });
    await expect(start).rejects.toThrow(SamplerError);
    const strange = NodeSampler.start({ folder, interval: 20, jobId: '1', types: ['cup'] });
    await expect(strange).rejects.toThrow(/no type cup/);
  });
});

const cpus = (text: string) => new Set(records(text, 'cpu').map((line) => line.split(' ')[1])).size;

describe.skipIf(!isLinux)('triscope node', () => {
  it('prints one sample, as a file that can be read', async () => {
    const { code, out, err } = await triscope([
      'node',
      'collect',
      '--print',
      '--job',
      '9,10',
      '--mark',
      'hi',
    ]);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^\$tacc_stats 1\.0\.2\n\$hostname \S+\n\$uname Linux .*\n\$uptime \d+\n\$collector triscope\n(!\w+ .*\n)*!cpu user,E,U=cs /,
    );
    expect(out).toMatch(/\n\n\d+ 9,10\n%hi\n(.+\n)*cpu 0 /);
  });

  it('prints it in the style of 2.3', async () => {
    const { out } = await triscope(['node', 'collect', 'cpu', '--print', '--style', '2.3']);
    expect(out).toMatch(/^\$tacc_stats 2\.3\.5\n/);
    expect(out).toMatch(/\n\n\d+\.\d{6} - \S+\ncpu 0 /);
  });

  it('reads a recorded tree', async () => {
    const root = tree('cli', 'cpu0 1 2 3 4 5 6 7 8\n');
    const { out, code } = await triscope(['node', 'collect', 'cpu', '--root', root]);
    expect(code).toBe(0);
    expect(out).toMatch(/\ncpu 0 1 2 3 4 5 6 7\n$/);
  });

  it.each([
    [['collect', 'cup', '--print'], 2, 'there is no type cup'],
    [['collect', '--root', '/nowhere'], 2, 'no such folder'],
    [['collect', '--style', '3'], 2, 'must be one of 1.0, 2.3'],
    [['collect', '--wrong'], 2, 'unknown option --wrong'],
    [['collect', '--deadlin=3'], 2, 'unknown option --deadlin; did you mean --deadline?'],
    [['collect', '--deadline', '0'], 2, '--deadline=0: must be a finite number from 0.001 to 60'],
  ])('%j: exit %d', async (words, code, expected) => {
    const outcome = await triscope(['node', ...words]);
    expect(outcome.err).toContain(expected);
    expect(outcome.err.trim().split('\n')).toHaveLength(1);
    expect(outcome.code).toBe(code);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'says in one line which types only rights are missing for',
    async () => {
      const root = tree('closed', 'cpu0 1 2 3 4 5 6 7\n');
      writeFileSync(join(root, 'proc', 'vmstat'), 'pgfault 1\n', { mode: 0o600 });
      for (const path of [folder, root]) chmodSync(path, 0o755);
      const run = (...args: string[]) => {
        const { stdout, stderr, status } = spawnSync(
          process.execPath,
          [join(process.cwd(), 'bin', 'triscope'), 'node', 'collect', '--root', root, ...args],
          { uid: 65_534, gid: 65_534, encoding: 'utf8' },
        );
        return { last: stdout.split('\n').at(-2), stderr, status };
      };
      expect(run('--no-type.cpu_steal')).toEqual({
        last: 'cpu 0 1 2 3 4 5 6 7',
        stderr: 'triscope: no rights to read vm: see triscope node types\n',
        status: 0,
      });
      expect(run('cpu', 'vm').stderr).toBe(
        `triscope: no records of type vm: needs to read ${root}/proc/vmstat (root)\n`,
      );
    },
  );

  it('says what is missing, exit 1 where nothing could be read', async () => {
    const { code, err } = await triscope(['node', 'collect', 'cpu', '--root', folder]);
    expect(err).toContain('no records of type cpu');
    expect(code).toBe(1);
    // The folder of interfaces is there, and empty.
    mkdirSync(join(folder, 'bare/sys/class/net'), { recursive: true });
    const bare = await triscope(['node', 'collect', 'net', '-v', '--root', join(folder, 'bare')]);
    expect(bare.err).toBe('triscope: no records of type net: no device at present\n');
  });
});

afterAll(() => execFileSync('rm', ['-rf', folder]));
