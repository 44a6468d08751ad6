/** Events by control registers, on hand-worked numbers. */
import { describe, expect, it } from 'vitest';
import { devicePage, notesOf } from '../../../src/findings/job/index.ts';
import { CORE, job, L1_HIT, SCALAR, SIMD } from './support/made-job.ts';

describe('events', () => {
  it('go by what each device’s control registers say, and a core that differs is told', async () => {
    const of = await job(
      [CORE('intel_snb')],
      [`intel_snb 0 ${SCALAR} ${SIMD} 0 0 0 0 0`, `intel_snb 1 ${L1_HIT} ${SIMD} 0 0 0 0 0`],
      [`intel_snb 0 ${SCALAR} ${SIMD} 10 1 0 0 0`, `intel_snb 1 ${L1_HIT} ${SIMD} 30 2 0 0 0`],
    );
    const keys = of.hosts[0].types.get('intel_snb')?.keys;
    expect(keys?.get('SSE_DOUBLE_SCALAR')?.total).toBe(10n);
    expect(keys?.get('LOAD_OPS_L1_HIT')?.total).toBe(30n);
    expect(keys?.get('SIMD_DOUBLE_256')?.total).toBe(3n);
    expect(notesOf(of)[0]).toBe(
      'intel_snb.SSE_DOUBLE_SCALAR of a is counted by 1 of 2 devices only (0): totals are of these',
    );
  });

  it('change with their register during the job, which is told', async () => {
    const of = await job(
      [CORE('intel_snb')],
      [`intel_snb 0 ${SCALAR} ${SIMD} 100 0 0 0 0`],
      [`intel_snb 0 ${SCALAR} ${SIMD} 150 0 10 0 0`],
      [`intel_snb 0 ${L1_HIT} ${SIMD} 5000 0 20 0 0`],
      [`intel_snb 0 ${L1_HIT} ${SIMD} 5007 0 30 0 0`],
    );
    const keys = of.hosts[0].types.get('intel_snb')?.keys;
    expect(keys?.get('SSE_DOUBLE_SCALAR')?.total).toBe(50n);
    expect(keys?.get('LOAD_OPS_L1_HIT')?.total).toBe(7n);
    expect(keys?.get('INSTRUCTIONS_RETIRED')?.total).toBe(30n);
    expect(of.oddities[0].what).toContain('control registers of intel_snb 0 changed');
  });

  it('that no table has are called by the register’s value', async () => {
    const of = await job(
      [CORE('intel_hsw')],
      ['intel_hsw 0 12345 0 0 0 0 0 0'],
      ['intel_hsw 0 12345 0 9 0 0 0 0'],
    );
    expect(of.hosts[0].types.get('intel_hsw')?.keys.get('12345')?.total).toBe(9n);
  });

  it('of AMD family 10h go to sockets and cores, in bytes where they move some', async () => {
    const schema =
      '!amd64_pmc CTL0,C CTL1,C CTL2,C CTL3,C CTR0,E,W=48 CTR1,E,W=48 CTR2,E,W=48 CTR3,E,W=48';
    // The README's rows of cores 12 and 13.
    const rows = ['12 4392928 4259958 4391234 4423427', '13 4259958 4405238 4391234 4423427'];
    const of = await job(
      [schema],
      rows.map((row) => `amd64_pmc ${row} 0 0 0 0`),
      rows.map((row) => `amd64_pmc ${row} 1 2 3 4`),
    );
    const { types } = of.hosts[0];
    const totals = (type: string) =>
      devicePage(of, type)
        .filter(({ device }) => device === 'all')
        .map(({ key, total, unit }) => [key, total, unit]);
    expect(types.has('amd64_pmc')).toBe(false);
    expect(totals('amd64_sock')).toEqual([
      ['DRAM', '64', 'B'],
      ['HT0', '8', 'B'],
    ]);
    expect(totals('amd64_core')).toEqual([
      ['USER', '3', ''],
      ['DCSF', '384', 'B'],
      ['SSE_FLOPS', '8', ''],
    ]);
    expect(notesOf(of)[0]).toContain('cores of AMD family 10h count different events');
  });

  it('of AMD family 10h that a core should count and does not are told', async () => {
    const keys = [0, 1, 2, 3];
    const schema = `!amd64_pmc ${keys.map((k) => `CTL${k},C`).join(' ')} ${keys.map((k) => `CTR${k},E,W=48`).join(' ')}`;
    const rows = ['12 4392928 4259958 4391234 4423427', '13 4259958 4405238 4391234 999'];
    const of = await job(
      [schema],
      rows.map((row) => `amd64_pmc ${row} 0 0 0 0`),
      rows.map((row) => `amd64_pmc ${row} 1 2 3 4`),
    );
    expect(notesOf(of).slice(1)).toEqual([
      'amd64_core.SSE_FLOPS of a is counted by 1 of 2 devices only (12): totals are of these',
      'amd64_pmc.999 of a is counted by 1 of 2 devices only (13): totals are of these',
    ]);
  });

  it('of Knights Landing’s boxes are two types, by the function of the device', async () => {
    const schema = '!intel_knl_edc CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48';
    const of = await job(
      [schema],
      [
        `intel_knl_edc ff/18.2 ${0x400101} ${0x400102} 0 0`,
        `intel_knl_edc ff/0f.0 ${0x400402} 0 0 0`,
      ],
      [
        `intel_knl_edc ff/18.2 ${0x400101} ${0x400102} 7 8`,
        `intel_knl_edc ff/0f.0 ${0x400402} 0 9 0`,
      ],
    );
    const { types } = of.hosts[0];
    expect(types.get('intel_knl_edc_eclk')?.keys.get('RPQ_INSERTS')?.total).toBe(7n);
    expect(types.get('intel_knl_edc_uclk')?.keys.get('EDC_MISS_CLEAN')?.total).toBe(9n);
  });
});
