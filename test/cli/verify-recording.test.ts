/** `triscope info --verify`: a recording's files are what they were when its run ended, or are told. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openRecording } from 'triscope/query';
import { describe, expect, it } from 'vitest';
import { checkRecording, type Recording } from '../../src/model/recording.ts';
import { NOON, rawStats, recordingOf, writeFolder } from '../query/support/recording.ts';
import { BIN, temporaryFolder, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();
const WHOLE = join(folder, 'whole.tri');
await triscopeHere(
  `sim run phold --pes=2 --end=100 --engine-stats=gvt --model-stats=none --num-gvt=5 --node-stats=50 --regions --record=${WHOLE}`.split(
    ' ',
  ),
);
const json = (path: string) =>
  checkRecording(JSON.parse(readFileSync(join(path, 'recording.json'), 'utf8')));
const filesOf = ({ sources }: Recording) => sources.flatMap(({ files }) => files);

interface Verified {
  readonly recordings: readonly {
    readonly verified: readonly { path: string; state: string; what: string }[];
  }[];
}

async function verified(path: string) {
  const { code, out } = await triscopeHere(['info', '--verify', '--json', path]);
  return { code, files: (JSON.parse(out) as Verified).recordings[0].verified };
}

/** The recording, changed; gives those of its files that are told. */
async function changed(name: string, change: (path: string) => void) {
  const path = join(folder, `${name}.tri`);
  cpSync(WHOLE, path, { recursive: true });
  change(path);
  const { code, files } = await verified(path);
  return { code, told: files.filter(({ state }) => state !== 'same'), path };
}

const FRAMES = 'extra.frames';

describe('a recording', () => {
  it('has length and SHA-256 of every file of every source', async () => {
    const files = filesOf(json(WHOLE));
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([FRAMES, 'sim-result.json', 'geopm.report']),
    );
    expect(
      files.filter(({ sha256, bytes }) => sha256 === undefined || bytes === undefined),
    ).toEqual([]);
    const { code, files: seen } = await verified(WHOLE);
    expect(code).toBe(0);
    expect(new Set(seen.map(({ state }) => state))).toEqual(new Set(['same']));
    expect(seen).toHaveLength(files.length);
  });

  it('tells a byte that is another, wherever it is', async () => {
    for (const { path: file } of filesOf(json(WHOLE))) {
      const { code, told } = await changed(`flip-${file.replaceAll('/', '-')}`, (path) => {
        const bytes = readFileSync(join(path, file));
        bytes[bytes.length >> 1] ^= 1;
        writeFileSync(join(path, file), bytes);
      });
      expect(told).toEqual([
        {
          path: file,
          state: 'changed',
          what: 'its content is not what it was when it was finished',
        },
      ]);
      expect(code).toBe(3);
    }
  });

  it('tells a file that is short, and one that is not there; the tables say so, too', async () => {
    const size = filesOf(json(WHOLE)).find(({ path }) => path === FRAMES)?.bytes ?? 0;
    const { code, told, path } = await changed('short', (to) => {
      truncateSync(join(to, FRAMES), size - 7);
      rmSync(join(to, 'geopm.report'));
    });
    expect(code).toBe(3);
    expect(told).toEqual([
      {
        path: FRAMES,
        state: 'changed',
        what: `it has ${size - 7} bytes; it had ${size} when it was finished`,
      },
      {
        path: 'geopm.report',
        state: 'missing',
        what: 'recording.json lists it, and it is not there',
      },
    ]);
    const open = await openRecording(path, {});
    const suspects = open.suspects.map(({ file, what }) => `${file}: ${what}`);
    await open.close();
    expect(suspects).toContain(
      `${FRAMES}: was changed: it has ${size - 7} bytes, and had ${size} when its run ended`,
    );
  });

  it('names what was put there later, which is no damage', async () => {
    const { code, told } = await changed('more', (path) => {
      appendFileSync(join(path, 'notes.txt'), 'mine');
    });
    expect(code).toBe(0);
    expect(told).toEqual([
      { path: 'notes.txt', state: 'unlisted', what: 'recording.json does not list it' },
    ]);
  });

  it('without checksums opens, and is not verifiable', async () => {
    const path = writeFolder(join(folder, 'old.tri'), {
      'recording.json': recordingOf(),
      [FRAMES]: '',
    });
    const { out, code } = await triscopeHere(['info', '--verify', path]);
    expect(code).toBe(0);
    expect(out).toContain('0 of 1 files as they were when the run ended, 1 not verifiable');
    expect(out).toContain('not verifiable: recording.json has no checksum of it');
  });
});

it('--verify of what is no recording is a mistake', async () => {
  const { code, err } = await triscopeHere(['info', '--verify', join(WHOLE, FRAMES)]);
  expect(code).toBe(2);
  expect(err).toContain("extra.frames is not a recording's folder");
});

it('a file that cannot be opened is named, with code 3, and those beside it are read', async () => {
  const path = writeFolder(join(folder, 'loose'), {
    '1772366400': rawStats('h1', [{ time: NOON, cpus: [{ user: 1 }] }]),
    '1772366500': '',
  });
  const bad = join(path, '1772366500');
  rmSync(bad);
  writeFileSync(bad, rawStats('h1', []));
  chmodSync(bad, 0);
  // Nothing is closed to root.
  const asked =
    process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  chmodSync(folder, 0o755);
  const run = (...words: string[]) => {
    const [command, ...rest] = [...asked, process.execPath, BIN, ...words];
    return spawnSync(command, rest, { encoding: 'utf8', env: { PATH: process.env.PATH } });
  };
  for (const words of [
    ['info', path],
    ['read', path, '--format=csv'],
  ]) {
    const { status, stdout, stderr } = run(...words);
    expect({ status, stderr }).toEqual({
      ...{ status: 3, stderr: `triscope: ${bad}: it may not be read by this user\n` },
    });
    expect(stdout).toContain('1772366400');
  }
  const { status, stdout, stderr } = run(
    'query',
    path,
    'SELECT count(*) AS n FROM node_cpu',
    '--json',
  );
  expect({ status, rows: stdout.replace(/\s/g, '') }).toEqual({
    status: 0,
    rows: expect.stringContaining('"n":1'),
  });
  expect(stderr).toContain('1772366500: cannot be read: it may not be read by this user');
});
