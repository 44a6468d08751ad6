/**
 * `psi`: pressure stall information of the node: how long processes stood still because of a lack of a CPU, memory or I/O. Totals that a
 * kernel does not count are not in the schema: `full` of CPUs came with Linux 5.13, interrupts with 6.1. The files' averages
 * are left out: differences of totals give them for any interval. Source: Documentation/accounting/psi.rst.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type FileField, FileFields, fieldsHere } from './file-fields.ts';
import { type Collector, counter, type NodeType } from './type.ts';

const FOLDER = 'proc/pressure';

const RESOURCES = [
  ['cpu', 'a CPU'],
  ['io', 'I/O'],
  ['irq', 'a CPU that served interrupts'],
  ['memory', 'memory'],
] as const;

/** Totals of all resources; `file`: name of a resource's file. */
export const pressureFields = (file: (resource: string) => string): readonly FileField[] =>
  RESOURCES.flatMap(([resource, what]) => {
    const field = (how: string, help: string): FileField => ({
      metric: counter(`${resource}_${how}`, help, 'us'),
      file: file(resource),
      after: [`\n${how} `, ' total='],
    });
    const full = field('full', `time in which all that were not idle waited for ${what}`);
    // For interrupts, only the time in which all tasks wait is counted.
    if (resource === 'irq') return [full];
    return [field('some', `time in which some waited for ${what}`), full];
  });

const FIELDS = pressureFields((resource) => resource);

function open(tree: NodeTree): Collector {
  const fields = fieldsHere(tree, FOLDER, FIELDS);
  if (fields.length === 0) {
    throw new UnavailableError(
      `there is no /${FOLDER}: Linux provides it from 4.20 on, some systems only if booted with psi=1`,
    );
  }
  const files = new FileFields(tree, FOLDER, fields);
  const collect = (writer: RawWriter) => {
    writer.record('psi', '-');
    files.write(writer);
    writer.endRecord(fields.length);
  };
  return { metrics: fields.map(({ metric }) => metric), collect, close: () => files.close() };
}

export const PSI: NodeType = {
  name: 'psi',
  help: 'pressure: time in which processes waited for a CPU, memory or I/O',
  device: 'node (-)',
  source: '/proc/pressure/*',
  metrics: FIELDS.map(({ metric }) => metric),
  open,
};
