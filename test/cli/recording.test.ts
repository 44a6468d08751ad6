/** What may stand in a `recording.json`. */
import { describe, expect, test } from 'vitest';
import { checkRecording, RECORDING_VERSION } from '../../src/model/recording.ts';

const good = {
  version: RECORDING_VERSION,
  state: 'finished',
  madeBy: { command: ['triscope', 'sim', 'run', 'phold'], triscope: '0.1.0', node: '20.20.2' },
  started: '2026-01-01T00:00:00.000Z',
  ended: '2026-01-01T00:00:01.000Z',
  hosts: [{ name: 'a', platform: 'linux', arch: 'x64', cpus: 2, cpuModel: '', memory: 1 }],
  sources: [
    {
      name: 'sim',
      files: [{ path: 'sim-result.json', format: 'triscope-sim-result' }],
      zero: '1795239147148972032',
      droppedBytes: 0,
    },
  ],
  pes: [{ pe: 0, rank: 0, host: 'a', cpu: null, threadId: 7 }],
};

test('a good one passes, with fields it does not know', () => {
  expect(checkRecording({ ...good, colour: 'blue' })).toMatchObject(good);
});

describe('each of these is refused by name', () => {
  const [source] = good.sources;
  const cases: readonly (readonly [object, string])[] = [
    [{ state: 'done' }, 'recording.json.state must be one of running, finished'],
    [{ version: 'one' }, 'recording.json.version must be an integer'],
    [
      { version: 99 },
      'recording.json has version 99; this triscope reads up to 1: use a newer one',
    ],
    [{ started: 'yesterday' }, 'recording.json.started must be a date'],
    [{ hosts: {} }, 'recording.json.hosts must be a list'],
    [{ madeBy: null }, 'recording.json.madeBy must be an object'],
    [{ sources: [{ ...source, zero: 1.8e18 }] }, 'sources[0].zero must be nanoseconds'],
    [
      { sources: [{ ...source, files: [{ path: '../x', format: 'y' }] }] },
      'sources[0].files[0].path must be a path inside the folder',
    ],
    [{ pes: [{ ...good.pes[0], cpu: -1 }] }, 'pes[0].cpu must be an integer of 0 to 4294967295'],
  ];
  test.each(cases)('%j', (change, message) => {
    expect(() => checkRecording({ ...good, ...change })).toThrow(message);
  });
});
