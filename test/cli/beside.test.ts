/** `sim run --record` with what the node counts and where PEs spend their time beside it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRecording } from 'triscope/query';
import { expect, it } from 'vitest';
import { checkRecording } from '../../src/model/recording.ts';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const MODEL = ['sim', 'run', 'phold', '--pes=2', '--nlp=32', '--lookahead=0.1', '--end=2000'];

it('--node-stats and --regions record all three layers of a run on threads', async () => {
  const path = join(temporaryFolder(), 'all.tri');
  const beside = ['--engine-stats=1', '--node-stats=20', '--regions'];
  const { code, err } = await triscope([...MODEL, `--record=${path}`, ...beside]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const facts = checkRecording(JSON.parse(readFileSync(join(path, 'recording.json'), 'utf8')));
  expect(facts.sources.map(({ name }) => name)).toEqual(['sim', 'node', 'regions']);
  expect(readdirSync(join(path, 'node'))).toHaveLength(1);
  const recording = await openRecording(path);
  const regions = await recording.query<{ region: string }>(
    "SELECT region FROM geopm_region WHERE section = 'region'",
  );
  const windows = await recording.query('SELECT * FROM pe_on_node LIMIT 1');
  await recording.close();
  expect(regions.map(({ region }) => region)).toContain('event processing');
  expect(windows).toHaveLength(1);
});

it.each(['--node-stats=20', '--regions'])(
  '%s alone says that it needs a recording',
  async (one) => {
    const { code, out, err } = await triscopeHere([...MODEL, one]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      `triscope: ${one.split('=')[0]} needs --record=NAME: its output is part of a recording\n`,
    );
  },
);
