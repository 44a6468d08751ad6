/** Completion: what may stand at the end of a line, and real shells that ask for it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { candidates, wordsOf } from '../../src/cli/complete.ts';
import { rawFile, whole } from '../findings/job/support/archive.ts';
import { BIN, temporaryFolder, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();
const archive = join(folder, 'archive');
const BEGIN = 1_772_366_400;

beforeAll(() => {
  mkdirSync(join(archive, 'a'), { recursive: true });
  writeFileSync(join(archive, 'a', String(BEGIN)), rawFile({ host: 'a', groups: whole(BEGIN, 5) }));
});

describe('candidates', () => {
  it('lines are parted as shells do', () => {
    expect(wordsOf('triscope query "a b" c\\ d  e')).toEqual([
      'triscope',
      'query',
      'a b',
      'c d',
      'e',
    ]);
    expect(wordsOf('triscope ')).toEqual(['triscope', '']);
  });

  it.each([
    ['', ['demo', 'sim', 'region', 'node', 'signal', 'query', 'completion', '--help']],
    ['si', ['sim', 'signal']],
    ['sim ', ['run', 'verify', 'tune', 'models']],
    ['sim run ', ['phold']],
    ['sim run phold --tot', ['--total-lps=']],
    ['sim run phold --synch=op', ['--synch=optimistic', '--synch=optimistic-realtime']],
    ['sim run phold --synch con', ['conservative']],
    ['export x --to p', ['parquet']],
    ['export x -o ', [':files']],
    ['info ', [':files']],
    ['node collect cp', ['cpu']],
    ['node collect --root ', [':folders']],
    ['region build-shims o', ['openmp']],
    ['signal read TIM', ['TIME']],
    ['signal read TIME bo', ['board']],
    ['serve x --no', ['--no-token']],
  ])('of “%s”', async (line, some) => {
    expect(await candidates(COMMANDS, `triscope ${line}`)).toEqual(expect.arrayContaining(some));
  });

  it('are of their beginning, and hidden names are not among them', async () => {
    expect(await candidates(COMMANDS, 'triscope sim ru')).toEqual(['run']);
    const options = await candidates(COMMANDS, 'triscope node collect --');
    expect(options).toContain('--print');
    expect(options).not.toContain('--stdout');
    expect(await candidates(COMMANDS, 'triscope nowhere ')).toEqual([]);
  });

  it('tables of a recording, and jobs of an archive', async () => {
    expect(await candidates(COMMANDS, `triscope export ${archive} --table node_c`)).toContain(
      'node_cpu',
    );
    expect(await candidates(COMMANDS, `triscope node job --archive ${archive} `)).toEqual(['7']);
  });

  it('are printed for shells', async () => {
    const { code, out } = await triscopeHere(['completion', '--line=triscope sim ve']);
    expect([code, out]).toEqual([0, 'verify\n']);
  });
});

const has = (program: string) =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0 &&
  spawnSync('python3', ['-V']).status === 0;

describe('in a terminal', () => {
  const home = temporaryFolder();
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, 'triscope'));
  const file = (name: string, text: string) => {
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  const SHELLS = {
    bash: [
      'bash',
      '--norc',
      '--rcfile',
      file('bashrc', 'source <(triscope completion bash)\nPS1=READY\n'),
      '-i',
    ],
    zsh: ['env', `ZDOTDIR=${home}`, 'zsh', '-d', '-i'],
    fish: [
      'fish',
      '--no-config',
      '-i',
      '-C',
      'triscope completion fish | source; function fish_prompt; echo READY; end',
    ],
  };
  SHELLS.bash.splice(1, 1);
  file(
    '.zshrc',
    'autoload -U compinit; compinit -u\nsource <(triscope completion zsh)\nPS1=READY\n',
  );

  const type = (shell: keyof typeof SHELLS, typed: string, wanted: string) =>
    execFileSync(
      'python3',
      [
        fileURLToPath(new URL('support/shell.py', import.meta.url)),
        wanted,
        typed,
        ...SHELLS[shell],
      ],
      {
        encoding: 'utf8',
        env: {
          ...process.env,
          HOME: home,
          XDG_CONFIG_HOME: home,
          XDG_DATA_HOME: home,
          TERM: 'xterm',
          PATH: `${bin}:${process.env.PATH}`,
        },
      },
    );

  describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('%s', (shell) => {
    it.skipIf(!has(shell))(
      'completes a command, an option and its value',
      { timeout: 300_000 },
      () => {
        expect(type(shell, 'triscope sim veri\\t', 'verify')).toContain('verify');
        expect(type(shell, 'triscope export x --to parq\\t', 'parquet')).toContain('parquet');
        expect(type(shell, 'triscope sim run phold --synch=conserv\\t', 'conservative')).toContain(
          'vative',
        );
      },
    );
  });
});
