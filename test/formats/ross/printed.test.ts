/** What ROSS prints, as values. */
import { expect, it } from 'vitest';
import {
  isRossText,
  optionIn,
  printedLines,
  printedRunBatch,
} from '../../../src/formats/ross/printed.ts';

const line = (name: string, value: string) => `\t${name.padEnd(50)} ${value}`;

const TEXT = [
  'ROSS Version: v7.2.1-4-gab12',
  '',
  'ROSS Core Configuration: ',
  line('Total PEs', '          4'),
  line('Total KPs', '[Nodes (4) x KPs (16)] 64'),
  line('Total LPs', '        256'),
  line('Simulation End Time', '    2000.00'),
  'GVT #5: simulation 1% complete (GVT = 22.0000).',
  '*** START PARALLEL OPTIMISTIC SIMULATION WITH SUSPEND LP FEATURE AND REAL TIME GVT ***',
  '\tof the model: 7',
  '',
  '\t: Running Time = 1.2104 seconds',
  'TW Library Statistics:',
  line('Efficiency', '      -3.68 %'),
  line('Separate', '-nan %'),
  line('Total GVT Computations', '        534'),
  line('Event struct with Model', '        352'),
  'TW GVT Statistics: MPI AllReduce',
  line('GVT Interval', '         16'),
  line('Batch Size', '          8'),
].join('\n');

it('options and totals are values with their headings; other lines are left alone', () => {
  expect([isRossText(TEXT), isRossText('my ROSS Version: 1\n')]).toEqual([true, false]);
  const lines = printedLines(TEXT);
  const of = (name: string) => lines.find((one) => one.name === name);
  expect(lines).toHaveLength(12);
  expect(of('Efficiency')).toEqual({
    ...{ section: 'TW Library Statistics', name: 'Efficiency', text: '-3.68 %', value: -3.68 },
  });
  expect([of('Separate')?.value, of('Version')?.text]).toEqual([null, 'v7.2.1-4-gab12']);
  expect([of('Batch Size')?.section, of('Total KPs')?.value]).toEqual(['TW GVT Statistics', 64]);
});

it('a run is one only where ROSS said all that counts', () => {
  const command = ['mpirun', './phold', '--max-opt-lookahead=3', '--batch', '8', '--batch=9'];
  const run = { text: TEXT, command, program: 'phold', cpus: 2, at: 9 };
  const lines = printedLines(TEXT);
  const batch = printedRunBatch({ ...run, lines });
  const row = Object.fromEntries(
    batch?.schema.metrics.map(({ key }, k) => [key, batch.columns[k][0]]) ?? [],
  );
  expect(row).toMatchObject({ pes: 4, lps: 256, nkp: 16, batch: 8, gvt_interval: 16, gvts: 534 });
  expect(row).toMatchObject({
    synchroniser: 'optimistic-realtime',
    wall: 1.2104,
    event_bytes: 352,
  });
  expect([row.end, row.max_opt_lookahead, row.lookahead]).toEqual([2000, 3, Number.NaN]);
  expect(printedRunBatch({ ...run, lines: lines.slice(0, -1) })).toBeNull();
  expect([optionIn(command, 'batch'), optionIn(command, 'end')]).toEqual([9, Number.NaN]);
});
