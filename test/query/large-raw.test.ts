/** Raw stats beyond the memory that they may stay in give the same rows as those in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { NOON, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-large-'));
afterAll(() => rmSync(folder, { recursive: true }));

const GROUPS = 600;
const CPUS = 16;
const CPU = '!cpu user,E,U=cs nice,E,U=cs system,E,U=cs idle,E,U=cs\n';

/** A day's beginning of a host: counters that roll on from file to file, a mark, and a schema that changes half-way. */
function file(host: string, begin: number): string {
  const lines = [
    `$tacc_stats 2.3.5\n$hostname ${host}\n$uptime ${begin - NOON + 1000}\n${CPU}!ps ctxt,E load_1\n!numa numa_hit,E\n`,
  ];
  for (let group = 0; group < GROUPS; group++) {
    const at = begin - NOON + group;
    lines.push(`\n${begin + group} ${group < 200 ? '-' : `${begin},77`} ${host}\n`);
    if (group === 200) lines.push(`%begin ${begin}\n`);
    if (group === 400) lines.push('!numa numa_hit,E local_node,E\n');
    for (let cpu = 0; cpu < CPUS; cpu++) {
      lines.push(`cpu ${cpu} ${at * (cpu + 1)} 0 ${at * 7} ${at * 1_000_000_007}\n`);
    }
    lines.push(`ps - ${2 ** 32 + at * 13} ${group % 300}\n`);
    lines.push(`numa 0 ${at}${group < 400 ? '' : ` ${at * 2}`}\n`);
  }
  return lines.join('');
}

const path = writeFolder(join(folder, 'archive'), {
  [`c1/${NOON}`]: file('c1', NOON),
  [`c1/${NOON + 86_400}`]: file('c1', NOON + 86_400),
  [`c2/${NOON}.gz`]: gzipSync(file('c2', NOON)),
  [`c2/${NOON + 86_400}`]: `${file('c2', NOON + 86_400)}cpu 0 12 cut`,
});

const QUERIES = [
  'SELECT count(*) AS n, sum("user") AS u, sum(idle) AS i, min(t) AS first, max(t) AS last FROM node_cpu',
  'SELECT host, device, jobids, sum(system) AS s FROM node_cpu GROUP BY ALL ORDER BY ALL',
  'SELECT host, device, count(*) AS n, sum("user") AS u, max(idle) AS i, min(t0) AS first FROM node_cpu_rate GROUP BY ALL ORDER BY ALL',
  'SELECT * FROM node_ps WHERE load_1 = 7 ORDER BY host, t',
  'SELECT t0, t, host, ctxt FROM node_ps_rate WHERE t % 500 < 2 ORDER BY host, t',
  'SELECT * FROM node_numa WHERE t % 499 < 2 ORDER BY host, t',
  'SELECT host, count(local_node) AS n, sum(numa_hit) AS hits, count(*) AS rows FROM node_numa_rate GROUP BY ALL ORDER BY ALL',
  'SELECT * FROM node_mark ORDER BY host, t',
  'SELECT a.host, count(*) AS n FROM node_ps_rate a JOIN node_ps_rate b ON a.t = b.t AND a.host != b.host GROUP BY ALL ORDER BY ALL',
  'SELECT * FROM suspect ORDER BY ALL',
];

async function answers(options: { memory?: string; cache?: string }) {
  const recording = await openRecording(path, options);
  try {
    const all = [];
    for (const sql of QUERIES) all.push(await recording.query(sql));
    return all;
  } finally {
    await recording.close();
  }
}

describe('raw stats that are read again by each query', () => {
  it('have the rows, rates, marks and suspects of those in memory', async () => {
    const expected = await answers({});
    expect(expected[0]).toMatchObject([{ n: 4 * GROUPS * CPUS }]);
    expect(expected[7]).toHaveLength(4);
    // 3/8 of it: less than one of the files.
    expect(await answers({ memory: '2MB' })).toEqual(expected);
    expect(await answers({ cache: join(folder, 'cache') })).toEqual(expected);
  });
});
