/** What a counter counted: one case a rule, numbers worked by hand; then what is planted in genuine files. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  counterRule,
  DeviceRepair,
  parseSchema,
  type RawSchema,
  type Repaired,
  repair,
  repairPlan,
  scalesEnergy,
} from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';
import { visitRaw } from './support/visit.ts';

function schemaOf(line: string): RawSchema {
  const schema = parseSchema(line);
  if (typeof schema === 'string') throw new Error(schema);
  return schema;
}

function ruleOf(line: string, scaled = false) {
  const { type, keys } = schemaOf(line);
  return counterRule(type, keys[0], scaled);
}

type Case = [string, string, bigint, bigint, number, string, bigint];

const CASES: Case[] = [
  ['a rise', 'cpu user,E,U=cs', 1000n, 1250n, 2, 'ok', 250n],
  ['a rise beyond 2^53', 'lnet rx_bytes,E,U=B', 2n ** 63n, 2n ** 63n + 1n, 1, 'ok', 1n],
  ['48 bits', 'intel_snb CTR0,E,W=48', 2n ** 48n - 10n, 5000n, 1.2, 'wrapped', 5010n],
  [
    '44 bits',
    'intel_snb_cbo CTR3,E,W=44',
    16444848692079n,
    706880885805n,
    600,
    'wrapped',
    1854218238142n,
  ],
  ['32 bits', 'ib port_rcv_data,E,U=4B,W=32', 4294967200n, 104n, 1.2, 'wrapped', 200n],
  ['32 bits of ib, not declared', 'ib port_rcv_data,E,U=4B', 4294967200n, 104n, 1, 'wrapped', 200n],
  ['32 bits of block, not declared', 'block rd_ticks,E,U=ms', 4294967290n, 4n, 1.2, 'wrapped', 10n],
  [
    'a reset that would be 2^32 - 700000',
    'ib port_rcv_packets,E,W=32',
    700000n,
    0n,
    1.2,
    'reset',
    0n,
  ],
  [
    'a counter at its top',
    'ib port_xmit_data,E,U=4B,W=32',
    4294000000n,
    4294967295n,
    1.2,
    'suspect',
    967295n,
  ],
  [
    'a counter that stays at its top',
    'ib port_xmit_data,E,W=32',
    4294967295n,
    4294967295n,
    600,
    'suspect',
    0n,
  ],
  ['a counter cleared at its top', 'ib port_rcv_data,E', 4294967295n, 98340n, 75, 'reset', 98340n],
  ['the top of 4 bits', 'ib local_link_integrity_errors,E,W=32', 3n, 15n, 1, 'suspect', 12n],
  [
    'more than the width says',
    'ib port_rcv_data,E,U=4B,W=32',
    2n ** 40n,
    2n ** 40n + 7n,
    1,
    'ok',
    7n,
  ],
  ['a small fall', 'numa numa_hit,E', 24973370n, 24973362n, 1.2, 'dip', 0n],
  [
    'a small fall of 48 bits',
    'intel_nhm CTR0,E,W=48',
    281474937120345n,
    281474648696833n,
    19,
    'dip',
    0n,
  ],
  ['a small fall across a rollover', 'intel_nhm CTR0,E,W=48', 5n, 2n ** 48n - 3n, 19, 'dip', 0n],
  ['iowait, an estimate', 'cpu iowait,E,U=cs', 7n, 5n, 1.2, 'dip', 0n],
  ['a mount that began again', 'llite read_bytes,E,U=B', 10n ** 15n, 4096n, 600, 'reset', 4096n],
  ['a collector that clears', 'ib_ext port_rcv_pkts,E', 2692n, 1252n, 600, 'reset', 1252n],
  ['to zero', 'intel_nhm CTR1,E,W=48', 94n, 0n, 19, 'reset', 0n],
  ['a rise that cannot be', 'cpu user,E,U=cs', 1000n, 10n ** 12n, 600, 'suspect', 0n],
  [
    '40 bits, by more than half: clocks of Knights Landing in 600 s',
    'intel_knl FIXED_CTR1,E,W=40',
    900_000_000_000n,
    900_000_000_000n + 840_000_000_000n - 2n ** 40n,
    600,
    'wrapped',
    840_000_000_000n,
  ],
  [
    '40 bits, after so long that it may have rolled over once more',
    'intel_knl FIXED_CTR1,E,W=40',
    1000n,
    5000n,
    1200,
    'suspect',
    4000n,
  ],
  // 350 W in 600 s at 2^-14 J: 0.8 of 2^32, and nobody knows how often.
  ['energy after 600 s', 'intel_rapl P,E,W=32', 5n, 3_440_640_005n, 600, 'suspect', 3_440_640_000n],
  [
    'energy after 20 s',
    'intel_rapl P,E,W=32',
    4_294_000_000n,
    113_654_304n,
    20,
    'wrapped',
    114_621_600n,
  ],
  ['a clock that stands', 'cpu user,E,U=cs', 1000n, 1100n, 0, 'ok', 100n],
];

describe('a counter between two readings', () => {
  it.each(CASES)('%s', (_, line, previous, value, seconds, verdict, delta) => {
    const repaired = repair({ previous, value, seconds, rule: ruleOf(line) });
    expect([repaired.verdict, repaired.delta]).toEqual([verdict, delta]);
    expect(repaired.reason === '').toBe(verdict === 'ok');
  });

  it('of energy that 2.3 multiplied to mJ rolls over at 2^32 steps of 2^-16 J', () => {
    const rule = ruleOf('intel_rapl MSR_PKG_ENERGY_STATUS,E,U=mJ,W=32', true);
    const repaired = repair({ previous: 65535995n, value: 1n, seconds: 1.3, rule });
    expect([repaired.verdict, repaired.delta]).toEqual(['wrapped', 6n]);
    const larger = repair({ previous: 262143990n, value: 10n, seconds: 1.3, rule });
    expect([larger.verdict, larger.delta]).toEqual(['wrapped', 20n]);
    expect(scalesEnergy({ tacc_stats: '2.3.5' })).toBe(true);
    expect(scalesEnergy({ hpcperfstats: '2.3.5' })).toBe(false);
    // As triscope writes it, which names the format's version and keeps what it read.
    expect(scalesEnergy({ tacc_stats: '2.3.5', collector: 'triscope' })).toBe(false);
    const raw = {
      previous: 4294967290n,
      value: 4n,
      seconds: 1,
      rule: ruleOf('intel_rapl P,E,U=mJ,W=32'),
    };
    expect(repair(raw)).toMatchObject({ verdict: 'wrapped', delta: 10n });
  });

  it('after a reboot is its value', () => {
    const rule = ruleOf('cpu user,E,U=cs');
    const reading = { previous: 1000n, value: 4000n, seconds: 600, rule, rebooted: true };
    expect(repair(reading)).toMatchObject({ verdict: 'reset', delta: 4000n });
  });

  it('never counts more than can be, nor less than nothing', () => {
    const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const lines = CASES.map(([, line]) => line);
    fc.assert(
      fc.property(
        fc.constantFrom(...lines),
        word,
        word,
        fc.integer({ min: 0, max: 7200 }),
        (line, previous, value, seconds) => {
          const rule = ruleOf(line);
          const { delta, verdict, base } = repair({ previous, value, seconds, rule });
          expect(delta >= 0n).toBe(true);
          if (verdict === 'ok' || verdict === 'wrapped') {
            expect(Number(delta)).toBeLessThanOrEqual(rule.most * (seconds + 1));
          }
          if (verdict === 'reset') expect(delta).toBe(value);
          expect([previous, value]).toContain(base);
        },
      ),
    );
  });
});

/** Verdicts of a device's records, as `key verdict delta`. */
function steps(schema: RawSchema, rows: readonly (readonly [number, ...bigint[]])[]): string[][] {
  const device = new DeviceRepair(repairPlan(schema));
  return rows.map(([seconds, ...values]) => {
    const told: string[] = [];
    device.step(
      seconds,
      BigUint64Array.from(values),
      (key, { verdict, delta }) => told.push(`${schema.keys[key].name} ${verdict} ${delta}`),
      { all: true },
    );
    return told;
  });
}

describe('a device', () => {
  it('goes on from its high-water mark after a dip', () => {
    const schema = schemaOf('numa numa_hit,E');
    expect(
      steps(schema, [
        [0, 100_000n],
        [1, 99_990n],
        [2, 99_995n],
        [3, 100_007n],
      ]),
    ).toEqual([[], ['numa_hit dip 0'], ['numa_hit dip 0'], ['numa_hit ok 7']]);
  });

  it('is not told a spike, and is told once that it goes on from a new place', () => {
    const schema = schemaOf('ps ctxt,E');
    const far = 10n ** 17n;
    expect(
      steps(schema, [
        [0, 10n],
        [1, far],
        [2, 30n],
      ]).flat(),
    ).toEqual(['ctxt suspect 0', 'ctxt ok 20']);
    expect(
      steps(schema, [
        [0, 10n],
        [1, far],
        [2, far + 5n],
        [3, far + 9n],
      ]).flat(),
    ).toEqual(['ctxt suspect 0', 'ctxt suspect 5', 'ctxt ok 4']);
  });

  it('began anew where all its counters fell, though each may have rolled over', () => {
    const schema = schemaOf(
      'intel_knl CTR0,E,W=40 CTR1,E,W=40 FIXED_CTR0,E,W=40 FIXED_CTR1,E,W=40',
    );
    const full = 2n ** 40n;
    // Each is 1 % of its range short of it: 10^-8 that all roll over.
    const high = full - full / 100n;
    const [, verdicts] = steps(schema, [
      [0, high, high, high, high],
      [600, 5n, 6n, 7n, 8n],
    ]);
    expect(verdicts).toEqual([
      'CTR0 reset 5',
      'CTR1 reset 6',
      'FIXED_CTR0 reset 7',
      'FIXED_CTR1 reset 8',
    ]);
    // 840 of 1100 billion clocks, and half as many of the others: a chance of 3 % that all do.
    const at = (way: bigint) => full - way / 2n;
    const [, rolled] = steps(schema, [
      [0, at(420_000_000_000n), at(420_000_000_000n), at(420_000_000_000n), at(840_000_000_000n)],
      [600, 210_000_000_000n, 210_000_000_000n, 210_000_000_000n, 420_000_000_000n],
    ]);
    expect(rolled).toEqual([
      'CTR0 wrapped 420000000000',
      'CTR1 wrapped 420000000000',
      'FIXED_CTR0 wrapped 420000000000',
      'FIXED_CTR1 wrapped 840000000000',
    ]);
  });

  it('is suspect where the register changed, in the counter of that register only', () => {
    const schema = schemaOf('intel_nhm FIXED_CTR0,E,W=48 CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48');
    expect(
      steps(schema, [
        [0, 5n, 1n, 2n, 10n, 20n],
        [1, 9n, 7n, 2n, 11n, 25n],
      ]).flat(),
    ).toEqual(['FIXED_CTR0 ok 4', 'CTR0 suspect 0', 'CTR1 ok 5']);
  });

  it('counts with what intel_4pmc3 calls a control by mistake', () => {
    const schema = schemaOf('intel_4pmc3 CTL0,C CTR0,C,W=48');
    expect(
      steps(schema, [
        [0, 1n, 2n ** 48n - 1n],
        [1, 1n, 1n],
      ]).flat(),
    ).toEqual(['CTR0 wrapped 2']);
  });

  it('is told the same with and without the quick way', () => {
    const schema = schemaOf('intel_snb_cbo CTR0,E,W=44');
    const word = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 44n - 1n }),
      fc.bigInt({ min: 2n ** 44n - 9n, max: 2n ** 44n - 1n }),
      fc.bigInt({ min: 0n, max: 9n }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (values) => {
        const run = (all: boolean) => {
          const told: string[] = [];
          const device = new DeviceRepair(repairPlan(schema));
          values.forEach((value, k) => {
            device.step(
              600 * k,
              BigUint64Array.of(value),
              (_, { verdict, delta }) => {
                if (verdict !== 'ok') told.push(`${k} ${verdict} ${delta}`);
              },
              { all },
            );
          });
          return told;
        };
        expect(run(false)).toEqual(run(true));
      }),
    );
  });
});

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'tacc_stats');

/** All that is odd in a file from a time on, as `time type device key` → [verdict, delta]. */
async function oddities(
  folder: string,
  part = '',
  from = 0,
): Promise<Map<string, [string, bigint]>> {
  const at = join(ROOT, folder);
  const name = readdirSync(at, { recursive: true, encoding: 'utf8' }).find(
    (path) => path.includes(part) && /\/\d+(\.gz)?$/.test(path),
  );
  const path = join(at, name ?? 'none');
  expect(existsSync(path)).toBe(true);
  const properties: Record<string, string> = {};
  const odd = new Map<string, [string, bigint]>();
  const devices = new Map<string, DeviceRepair>();
  let time = '';
  visitRaw(path, {
    property: (key, value) => {
      properties[key] = value;
    },
    group: (group) => {
      time = group.time;
    },
    record: (schema, name, values) => {
      if (Number(time) < from) return;
      const key = `${schema.type} ${name}`;
      const device =
        devices.get(key) ?? new DeviceRepair(repairPlan(schema, scalesEnergy(properties)));
      devices.set(key, device);
      device.step(Number(time), values, (k, { verdict, delta }: Repaired) =>
        odd.set(`${time} ${key} ${schema.keys[k].name}`, [verdict, delta]),
      );
    },
  });
  return odd;
}

describe.skipIf(GOLDEN === undefined)('what is planted in genuine files', () => {
  it('of Sandy Bridge, 2.3.0', async () => {
    const odd = await oddities('fixture_snb_v2.3.0');
    const second = '1795226669.798101';
    const third = '1795226671.034836';
    const fourth = '1795226672.460764';
    const stuck = (time: string, delta: bigint): [string, [string, bigint]] => [
      `${time} ib mlx4_0.1 port_xmit_data`,
      ['suspect', delta],
    ];
    expect(odd).toEqual(
      new Map([
        [`${second} block sda rd_ticks`, ['wrapped', 10n]],
        [`${second} intel_rapl 0 MSR_PKG_ENERGY_STATUS`, ['wrapped', 6n]],
        [`${second} intel_rapl 1 MSR_PKG_ENERGY_STATUS`, ['wrapped', 6n]],
        stuck(second, 967295n),
        stuck(third, 0n),
        stuck(fourth, 0n),
        [`${third} ib mlx4_0.1 port_rcv_data`, ['wrapped', 200n]],
        [`${third} ib mlx4_0.1 port_rcv_packets`, ['reset', 0n]],
        [`${third} intel_snb 1 CTR0`, ['wrapped', 5010n]],
        [`${third} intel_snb_imc 7f/10.0 CTR0`, ['wrapped', 720n]],
        [`${third} intel_snb_imc ff/10.0 CTR0`, ['wrapped', 720n]],
        ...['0', '1', '2', '3'].map((cpu): [string, [string, bigint]] => [
          `${third} cpu ${cpu} iowait`,
          ['dip', 0n],
        ]),
        [`${third} numa 0 numa_hit`, ['dip', 0n]],
        [`${third} numa 1 numa_hit`, ['dip', 0n]],
      ]),
    );
  });

  it('of Opteron, 1.0.2', async () => {
    const odd = await oddities('fixture_amd10h_v1.0.2');
    expect(odd.get('1795226675 amd64_pmc 0 CTR0')).toEqual(['wrapped', 501n]);
    expect(odd.get('1795226673 block sda rd_ticks')).toEqual(['wrapped', 10n]);
    expect(odd.get('1795226675 numa 0 numa_hit')).toEqual(['dip', 0n]);
    expect(odd.get('1795226675 cpu 0 iowait')).toEqual(['dip', 0n]);
    expect(odd.get('1795226675 ib mlx4_0.1 port_rcv_data')).toEqual(['wrapped', 200n]);
  });

  it('of Nehalem: counters that another program took away are suspect, none is near 2^48', async () => {
    const odd = await oddities('genuine_job20', '', 1414794880);
    const at = '1414794900.122182 intel_nhm';
    expect(odd.get(`${at} 1 FIXED_CTR1`)).toEqual(['wrapped', 33404243268n]);
    expect(odd.get(`${at} 5 FIXED_CTR1`)).toEqual(['wrapped', 3970527839n]);
    for (const key of ['0 CTR1', '0 CTR2', '0 CTR3', '1 CTR0', '1 CTR1', '1 CTR3', '2 CTR2']) {
      expect(odd.get(`${at} ${key}`)).toEqual(['suspect', 0n]);
    }
    for (const [, delta] of odd.values()) expect(delta < 2n ** 36n).toBe(true);
  });

  it('of Stampede: clocks of 44 bits roll over, ib sticks and is cleared, ib_ext begins again', async () => {
    const odd = await oddities('genuine_job1835740_2hosts', 'c414-901');
    expect(odd.get('1380669001 intel_snb_cbo 1/7 CTR3')).toEqual(['wrapped', 1854218238142n]);
    expect(odd.get('1380669001 intel_snb_cbo 0/1 CTR3')).toEqual(['wrapped', 1856958312362n]);
    expect(odd.get('1380664201 ib mlx4_0.1 port_rcv_packets')).toEqual(['reset', 67511815n]);
    expect(odd.get('1380664201 ib mlx4_0.1 port_rcv_data')).toEqual(['suspect', 0n]);
    expect(odd.get('1380663601 ib_ext scif0/1 port_xmit_data')).toEqual(['reset', 288n]);
    // The collector of 1.0.5 cleared the counters of boxes at begin.
    const strange = [...odd].filter(([key]) => !/^1380663072 | (ib|ib_ext) /.test(key));
    expect(new Set(strange.map(([, [verdict]]) => verdict))).toEqual(new Set(['wrapped']));
    expect(new Set(strange.map(([key]) => key.split(' ')[1]))).toEqual(new Set(['intel_snb_cbo']));
  });
});
