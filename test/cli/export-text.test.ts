/** `triscope export` of texts for other tools. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NOON } from '../query/support/recording.ts';
import { inFolder, small } from './support/export.ts';
import { openMetricsFaults } from './support/openmetrics.ts';
import { triscopeHere } from './support/run.ts';

describe('texts for other tools', () => {
  it('OpenMetrics: families with type, unit and sentence, totals of what was counted, # EOF', async () => {
    const { out, code } = await triscopeHere([
      'export',
      small,
      '--to',
      'openmetrics',
      '-o',
      '-',
      '--table',
      'ross_pe,node_cpu',
    ]);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines.slice(-2)).toEqual(['# EOF', '']);
    expect(lines).toContain(
      `triscope_ross_pe_events_processed_total{mode="gvt",pe_id="0"} 10 ${NOON + 2}.000`,
    );
    expect(lines).toContain('# TYPE triscope_node_cpu_user_seconds counter');
    expect(lines).toContain('# UNIT triscope_node_cpu_user_seconds seconds');
    expect(lines).toContain(
      `triscope_node_cpu_user_seconds_total{host="h1",device="1"} 0.14 ${NOON + 2}.000`,
    );
    expect(openMetricsFaults(out)).toEqual([]);
    const all = await triscopeHere(['export', small, '--to', 'openmetrics', '-o', '-']);
    expect(openMetricsFaults(all.out)).toEqual([]);
  });

  it('CSV under the names of ross-binary-reader', async () => {
    const { out } = await triscopeHere([
      'export',
      small,
      '--to',
      'csv',
      '--names',
      'reader',
      '--table',
      'ross_pe',
      '-o',
      '-',
    ]);
    const [head, first] = out.split('\n');
    expect(head.split(',').slice(0, 8)).toEqual([
      'RT',
      'VT',
      'gvt',
      'gvt_index',
      'mode',
      'PE',
      'event_proc',
      'ev_abort',
    ]);
    expect(first.split(',')[6]).toBe('5');
  });

  it('traces in GEOPM’s form, without its head', async () => {
    const text =
      '# geopm_version: 3.1.0\n# start_time: Thu Feb 29 2024\n# profile_name: p\n# node_name: h1\n# agent: monitor\nTIME|EPOCH_COUNT|REGION_HASH|CPU_ENERGY-package-0\n0.5|1|0x00000001|12.5\n1.5|2|0x00000001|nan\n';
    writeFileSync(inFolder('trace'), text);
    const made = await triscopeHere([
      'export',
      inFolder('trace'),
      '--to',
      'csv',
      '--names',
      'geopm',
      '--table',
      'geopm_trace',
      '-o',
      '-',
    ]);
    expect(made.out).toBe(
      'TIME|EPOCH_COUNT|REGION_HASH|CPU_ENERGY-package-0\n0.5|1|0x00000001|12.5\n1.5|2|0x00000001|nan\n',
    );
  });
});
