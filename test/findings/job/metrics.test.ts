/** Metrics on hand-worked numbers. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formulas } from '../../../src/findings/job/formulas.ts';
import {
  balanceOf,
  devicePage,
  METRIC_FAMILIES,
  METRIC_SETS,
  metricsOf,
  tracksOf,
} from '../../../src/findings/job/index.ts';
import { busy, MEM, NET, NOON, rawFile, whole } from './support/archive.ts';
import { CORE, job, jobOf, metric, SCALAR, SIMD, value } from './support/made-job.ts';

describe('metrics', () => {
  it('of cores: cycles for an instruction, frequency, flops, vectors', async () => {
    const of = await job(
      [CORE('intel_snb')],
      [`intel_snb 0 ${SCALAR} ${SIMD} 0 0 0 0 0`],
      [`intel_snb 0 ${SCALAR} ${SIMD} 6000000000 9000000000 200 300 150`],
    );
    expect(value(of, 'avg_cpi')).toBe(1.5);
    // 2.7 GHz nominal, twice the reference cycles.
    expect(value(of, 'avg_freq')).toBe(5.4);
    // (1 × 6e9 + 4 × 9e9) / 60 s = 0.7e9.
    expect(value(of, 'avg_flops_64b')).toBe(0.7);
    expect(value(of, 'vecpercent_64b')).toBeCloseTo((100 * 36) / 42, 12);
    expect(value(of, 'avg_vector_width_64b')).toBe(42 / 15);
    expect(metric(of, 'avg_loads')).toMatchObject({ value: null, lacks: 'intel_snb.LOAD_OPS_ALL' });
  });

  it('count clocks of 40 bits that roll over nearly every 10 minutes, by more than half their range', async () => {
    // 1.4 GHz on 68 cores for 2 hours; an instruction takes 2.143 clocks.
    const [clocks, instructions] = [840_000_000_000n, 391_973_868_409n];
    const at = (k: number, core: number, step: bigint) =>
      (BigInt(k) * step + BigInt(core) * 15_000_000_000n) % 2n ** 40n;
    const files = {
      [`a/${NOON}`]: rawFile({
        ...{
          host: 'a',
          schemas: ['!intel_knl CTL0,C CTR0,E,W=40 FIXED_CTR0,E,W=40 FIXED_CTR1,E,W=40'],
        },
        groups: Array.from({ length: 13 }, (_, k) => ({
          ...{ time: NOON + 600 * k, jobs: '7', marks: k === 0 ? ['begin 7'] : [] },
          records: Array.from(
            { length: 68 },
            (_none, core) =>
              `intel_knl ${core} 0 ${at(k, core, 7n)} ${at(k, core, instructions)} ${at(k, core, clocks)}`,
          ),
        })),
      }),
    };
    const of = await jobOf(files);
    expect(value(of, 'avg_cpi')).toBeCloseTo(2.143, 9);
    expect(metric(of, 'avg_cpi').doubt).toBe('');
    expect(of.hosts[0].types.get('intel_knl')?.keys.get('CLOCKS_UNHALTED_CORE')).toMatchObject({
      total: clocks * 12n * 68n,
      verdicts: { reset: 0, suspect: 0 },
    });
  });

  it('of energy that may have rolled over unseen are withheld', async () => {
    // 2^-14 J a count; 700 W for 600 s are 1.6 times 2^32.
    const step = BigInt(700 * 600 * 2 ** 14);
    const file = (seconds: number, by: bigint) =>
      rawFile({
        ...{
          host: 'a',
          schemas: ['!intel_rapl MSR_PKG_ENERGY_STATUS,E,W=32 MSR_RAPL_POWER_UNIT,C'],
        },
        groups: [0, 1, 2].map((k) => ({
          ...{ time: NOON + seconds * k, jobs: '7', marks: k === 0 ? ['begin 7'] : [] },
          records: [`intel_rapl 0 ${(BigInt(k) * by) % 2n ** 32n} ${14 << 8}`],
        })),
      });
    const blind = await jobOf({ [`a/${NOON}`]: file(600, step) });
    expect(metric(blind, 'avg_power_package', 'triscope')).toMatchObject({
      value: null,
      lacks:
        'exact inputs: of 100 % of the differences of intel_rapl.MSR_PKG_ENERGY_STATUS only a lower bound is known',
    });
    const seen = await jobOf({ [`a/${NOON}`]: file(30, step / 20n) });
    expect(value(seen, 'avg_power_package', 'triscope')).toBeCloseTo(700, 6);
  });

  it('say what of their inputs is only a lower bound', async () => {
    const user = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 50].map((cs) => [
      `cpu 0 ${cs} 0 0 1 0 0 0`,
    ]);
    const of = await job(
      ['!cpu user,E,U=cs nice,E system,E idle,E iowait,E irq,E softirq,E'],
      ...user,
    );
    expect(metric(of, 'avg_cpuusage').doubt).toBe(
      'of 8.3 % of the differences of cpu.user only a lower bound is known',
    );
  });

  it('count exactly across a rollover at 48 bits', async () => {
    const of = await job(
      [CORE('intel_snb')],
      [`intel_snb 0 ${SCALAR} 0 281474976710000 0 0 0 0`],
      [`intel_snb 0 ${SCALAR} 0 1000 0 0 0 0`],
    );
    expect(metric(of, 'avg_flops_64b').inputs[0].value).toBe(2 ** 48 - 281474976710000 + 1000);
  });

  it('give counts beyond 2^53 in full', async () => {
    const of = await job(
      [NET],
      ['net eth0 18446744073709551000 9007199254740993'],
      ['net eth0 18446744073709551010 9007199254740996'],
    );
    expect(devicePage(of, 'net').map(({ device, key, total }) => [device, key, total])).toEqual([
      ['all', 'rx_bytes', '10'],
      ['eth0', 'rx_bytes', '10'],
      ['all', 'tx_bytes', '3'],
      ['eth0', 'tx_bytes', '3'],
    ]);
    expect(value(of, 'GigEBW', 'exam')).toBe(13 / 60);
  });

  it('of one interface name that interface’s inputs alone', async () => {
    const of = await job(
      [NET],
      ['net eth0 100 10', 'net ib0 0 0'],
      ['net eth0 400 40', 'net ib0 1000000 2000000'],
    );
    expect(metric(of, 'GigEBW', 'exam')).toMatchObject({
      value: 330 / 60,
      inputs: [
        { name: 'net.rx_bytes of eth0', value: 300 },
        { name: 'net.tx_bytes of eth0', value: 30 },
      ],
    });
  });

  it('multiply sectors, and dwords of InfiniBand', async () => {
    const of = await job(
      [
        '!block rd_sectors,E,U=512B wr_sectors,E,U=512B',
        '!ib_ext port_xmit_data,E,U=4B port_rcv_data,E,U=4B port_xmit_pkts,E port_rcv_pkts,E',
      ],
      ['block sda 0 0', 'ib_ext m/1 0 0 0 0'],
      ['block sda 120000 2880', 'ib_ext m/1 15728640 0 60 60'],
    );
    expect(value(of, 'avg_blockbw')).toBe(1);
    expect(value(of, 'avg_fabricbw')).toBe(1);
    expect(value(of, 'avg_packetsize')).toBe(0.5);
    expect(value(of, 'max_packetrate')).toBe(2);
    // Flits of 8 B: 60 s of 1 MiB/s, not of 1 MB/s.
    const opa = await job(
      ['!opa PortXmitData,E PortRcvData,E PortXmitPkts,E PortRcvPkts,E'],
      ['opa hfi1_0/1 0 0 0 0'],
      [`opa hfi1_0/1 ${60 * 2 ** 16} ${60 * 2 ** 16} 60 60`],
    );
    expect(value(opa, 'avg_fabricbw')).toBe(1);
  });

  it('of memory: the highest of any host and time', async () => {
    const of = await job(
      [MEM],
      ['mem 0 8388608 2097152 524288 524288', 'mem 1 8388608 1048576 0 0'],
      ['mem 0 8388608 4194304 524288 524288', 'mem 1 8388608 1048576 0 0'],
      ['mem 0 8388608 1048576 0 0', 'mem 1 8388608 0 0 0'],
    );
    expect(value(of, 'mem_hwm')).toBe(4);
    const [memory] = tracksOf(of);
    expect([...(memory.hosts.get('a') ?? [])]).toEqual([2, 4, 1]);
  });

  it('of balance: how far the laziest host is behind, and since when', async () => {
    const groups = (rate: number) =>
      Array.from({ length: 9 }, (_, k) =>
        busy(
          NOON + 600 * k,
          rate * (k < 5 ? 600 * k : 2400),
          k === 0 ? { marks: ['begin 7'] } : {},
        ),
      );
    const of = await jobOf({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: groups(100) }),
      [`b/${NOON}`]: rawFile({ host: 'b', groups: groups(25) }),
    });
    expect(value(of, 'node_imbalance')).toBe(0.75);
    expect(balanceOf(of).map(({ host, behind }) => [host, behind])).toEqual([
      ['b', 0.75],
      ['a', 0],
    ]);
    // Nothing runs after half of the time.
    expect(value(of, 'time_imbalance')).toBe(0);
    expect(metric(of, 'Catastrophe', 'exam').lacks).toContain('the end of a');
  });

  it('are not available where an input is missing, never 0', async () => {
    const of = await job(['!cpu user,E,U=cs'], ['cpu 0 1'], ['cpu 0 2']);
    for (const one of metricsOf(of)) {
      expect(one.value === null).toBe(one.lacks !== '');
    }
    expect(metric(of, 'avg_gpuutil').lacks).toBe('type nvidia_gpu');
    expect(metric(of, 'avg_cpuusage', 'hpcperfstats').lacks).toBe('cpu.system');
  });

  it('of a job with one record group are those that need no second', async () => {
    const of = await job([MEM, '!cpu user,E,U=cs'], ['mem 0 8388608 2097152 0 0', 'cpu 0 5']);
    expect(value(of, 'mem_hwm')).toBe(2);
    expect(metric(of, 'avg_cpuusage').lacks).toBe('a second record group, of a later time');
  });

  it('average over the hosts that have the input', async () => {
    const of = await jobOf({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }),
      [`b/${NOON}`]: rawFile({
        ...{ host: 'b', schemas: [NET] },
        groups: whole(NOON, 50).map((group) => ({ ...group, records: ['net eth0 1 1'] })),
      }),
    });
    expect(value(of, 'avg_cpuusage')).toBe(0.5);
  });

  it.each([
    // tacc_stats 2.3 wrote mJ: 120 J in 60 s.
    ['tacc_stats 2.3.0', '!intel_rapl MSR_PKG_ENERGY_STATUS,E,W=32,U=mJ', '0', '120000', 120],
    // Counts of 2^-14 J beside the register that says so: 0xa0e03.
    [
      'tacc_stats 1.0.2',
      '!intel_rapl MSR_PKG_ENERGY_STATUS,E,W=32 MSR_RAPL_POWER_UNIT,C',
      '0 658947',
      '1966080 658947',
      120,
    ],
  ])('of energy: %s, %s', async (program, schema, first, last, joules) => {
    const text = rawFile({
      ...{ host: 'a', schemas: [schema] },
      groups: [
        { time: NOON, jobs: '7', marks: ['begin 7'], records: [`intel_rapl 0 ${first}`] },
        { time: NOON + 60, jobs: '7', marks: ['end 7'], records: [`intel_rapl 0 ${last}`] },
      ],
    }).replace('tacc_stats 1.0.2', program);
    const of = await jobOf({ [`a/${NOON}`]: text });
    expect(value(of, 'energy_package', 'triscope')).toBe(joules);
    expect(value(of, 'avg_power_package', 'triscope')).toBe(joules / 60);
  });

  it('have one name a set, a formula and inputs', () => {
    for (const set of METRIC_SETS) {
      const names = METRIC_FAMILIES.filter((family) => family.set === set).flatMap(({ metrics }) =>
        metrics.map(({ name }) => name),
      );
      expect(new Set(names).size).toBe(names.length);
    }
    for (const { formula, inputs } of METRIC_FAMILIES.flatMap(({ metrics }) => metrics)) {
      expect(formula.length).toBeGreaterThan(3);
      expect(inputs.length).toBeGreaterThan(0);
    }
  });

  it('take what the job has instead, and say which', async () => {
    // 60 s of 3 GFLOPS of AMD; 15 operations of SSE beside it are of nobody.
    const amd = await job(
      ['!amd64_core SSE_FLOPS,E', '!amd64_pmc FLOPS,E'],
      ['amd64_core 0 0', 'amd64_pmc 0 0'],
      ['amd64_core 0 180000000000', 'amd64_pmc 0 900000000000'],
    );
    expect(value(amd, 'LowFLOPS', 'exam')).toBe(3);
    expect(value(amd, 'avg_flops', 'hpcperfstats')).toBe(3);
    const zen = await job(['!amd64_pmc FLOPS,E'], ['amd64_pmc 0 0'], ['amd64_pmc 0 900000000000']);
    expect(value(zen, 'avg_flops', 'hpcperfstats')).toBe(15);
    expect(metric(zen, 'avg_fabricbw').lacks).toBe('type ib_ext, and type opa');
    // An adapter that does not count what it receives is not half of a fabric.
    const half = await job(
      ['!ib_ext port_xmit_data,E', '!opa PortXmitData,E PortRcvData,E'],
      ['ib_ext 0 0', 'opa 0 0 0'],
      ['ib_ext 0 5', 'opa 0 7 7'],
    );
    expect(metric(half, 'avg_fabricbw').lacks).toBe('ib_ext.port_rcv_data');
  });

  it('of a queue in flat mode count no misses of the fast memory', async () => {
    const of = await job(
      [
        '!intel_knl_edc_eclk RPQ_INSERTS,E WPQ_INSERTS,E',
        '!intel_knl_edc_uclk EDC_MISS_CLEAN,E EDC_MISS_DIRTY,E',
        '!intel_knl_mc_dclk CAS_READS,E CAS_WRITES,E',
      ],
      ['intel_knl_edc_eclk 0 0 0', 'intel_knl_edc_uclk 0 0 0', 'intel_knl_mc_dclk 0 0 0'],
      // Lines of 64 B, 2^24 a GiB.
      [
        `intel_knl_edc_eclk 0 ${600 * 2 ** 24} ${300 * 2 ** 24}`,
        `intel_knl_edc_uclk 0 ${30 * 2 ** 24} ${60 * 2 ** 24}`,
        `intel_knl_mc_dclk 0 ${90 * 2 ** 24} 0`,
      ],
    );
    expect(value(of, 'avg_mcdrambw')).toBe((600 + 300 - 30 - 60 - 90) / 60);
    const accounted = {
      ...{ id: '7', user: '', account: '', queue: 'Flat-quadrant', name: '', state: '', place: '' },
      ...{ submitted: null, started: null, ended: null, nodes: null, cores: null, hosts: null },
      timeLimit: null,
    };
    expect(value({ ...of, accounted }, 'avg_mcdrambw')).toBe((600 + 300) / 60);
  });

  it('of memory by the processor: its peak, and the rows that stayed open', async () => {
    const of = async (core: string) =>
      job(
        ['!intel_snb_imc CAS_READS,E CAS_WRITES,E ACT_COUNT,E', `!${core} LOAD_OPS_ALL,E`],
        ['intel_snb_imc 0 0 0 0', `${core} 0 0`],
        ['intel_snb_imc 0 42750000000 28500000000 17812500000', `${core} 0 1`],
      );
    // 64 B × 71.25e9 in 60 s are 76 GB/s.
    expect(value(await of('intel_ivb'), 'MemBw', 'exam')).toBe(1);
    expect(value(await of('intel_ivb'), 'avg_page_hitrate')).toBe(0.75);
    expect(metric(await of('intel_bdw'), 'MemBw', 'exam').lacks).toBe(
      'the peak bandwidth of intel_bdw',
    );
  });

  it('that are highest are of one host or of all, and differ from the average', async () => {
    const file = (host: string, first: number, second: number) =>
      rawFile({
        ...{ host, schemas: ['!lnet rx_bytes,E,U=B tx_bytes,E,U=B'] },
        groups: [0, first, first + second].map((mib, k) => ({
          ...{ time: NOON + 60 * k, jobs: '7', marks: k === 0 ? ['begin 7'] : [] },
          records: [`lnet - ${mib * 60 * 2 ** 20} 0`],
        })),
      });
    // MiB/s of the two minutes: 9 and 1 on a, 2 and 6 on b.
    const of = await jobOf({ [`a/${NOON}`]: file('a', 9, 1), [`b/${NOON}`]: file('b', 2, 6) });
    expect(value(of, 'avg_lnetbw')).toBe((9 + 1 + 2 + 6) / 2 / 2);
    expect(value(of, 'max_lnetbw')).toBe(9);
    expect(value(of, 'LnetMaxBW', 'exam')).toBe(11 * 2 ** 20);
  });

  it('are one sum over another, but for those that say why they cannot be', () => {
    const all = METRIC_FAMILIES.flatMap(({ metrics }) => metrics);
    for (const { name, declaration, noQuotient } of all) {
      expect([name, declaration === undefined]).toEqual([name, noQuotient !== undefined]);
    }
    const functions = all
      .filter(({ declaration }) => declaration === undefined)
      .map(({ name }) => name)
      .filter((name) => !/^(energy|avg_power)_(package|cores|memory)$/.test(name));
    expect(functions).toEqual([
      ...['max_sf_evictrate', 'node_imbalance', 'time_imbalance', 'avg_gpuutil', 'MIC_Usage'],
      ...['Idle', 'Imbalance', 'Catastrophe', 'PacketRate', 'PacketSize'],
    ]);
  });

  it('are on the page of formulas as they are declared (node scripts/job-docs.mjs)', () => {
    const page = readFileSync(new URL('../../../docs/node/jobs.md', import.meta.url), 'utf8');
    expect(page).toContain(formulas());
  });
});
