import { formatSchema, parseSchema, tableSchema } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';

const PMC = 'amd64_pmc CTL0,C CTR0,E,W=48 port_rcv_data,E,U=4B,W=32 in_flight';

describe('a schema line', () => {
  it('is read: event counters, controls, widths, units', () => {
    expect(parseSchema(PMC)).toEqual({
      type: 'amd64_pmc',
      keys: [
        { name: 'CTL0', kind: 'control', bits: 64, unit: '' },
        { name: 'CTR0', kind: 'event', bits: 48, unit: '' },
        { name: 'port_rcv_data', kind: 'event', bits: 32, unit: '4B' },
        { name: 'in_flight', kind: 'gauge', bits: 64, unit: '' },
      ],
    });
  });

  it('is written as it was', () => {
    const schema = parseSchema(PMC);
    if (typeof schema === 'string') throw new Error(schema);
    expect(formatSchema(schema)).toBe(`!${PMC}`);
  });

  it('may have options in small letters, empty ones, and unknown ones', () => {
    const schema = parseSchema('ib data,e,,w=32,u=4B,X=7');
    expect(schema).toMatchObject({ keys: [{ kind: 'event', bits: 32, unit: '4B' }] });
  });

  it.each(['cpu user,W=65', 'cpu user,W=0', 'cpu user,W=x', 'cpu ,E'])('is refused: %s', (line) => {
    expect(typeof parseSchema(line)).toBe('string');
  });

  it('becomes a table with 64-bit totals', () => {
    const schema = parseSchema(PMC);
    if (typeof schema === 'string') throw new Error(schema);
    const table = tableSchema(schema);
    expect(table.name).toBe('node_amd64_pmc');
    expect(table.metrics.map(({ key }) => key)).toEqual([
      'time',
      'host',
      'jobids',
      'device',
      'CTL0',
      'CTR0',
      'port_rcv_data',
      'in_flight',
    ]);
    expect(table.metrics[5]).toMatchObject({ cell: 'u64', form: 'total', bits: 48 });
  });
});
