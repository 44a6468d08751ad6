/** `ps`: processes of the node. Keys as in tacc_stats; loads are in hundredths. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { KeyTable, KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const SLASH = 0x2f;

const METRICS = [
  counter('ctxt', 'context switches'),
  counter('processes', 'processes and threads created'),
  gauge('load_1', 'load of the last minute, times 100'),
  gauge('load_5', 'load of the last 5 minutes, times 100'),
  gauge('load_15', 'load of the last 15 minutes, times 100'),
  gauge('nr_running', 'threads that run or are ready to'),
  gauge('nr_threads', 'threads'),
];
/** Keys from /proc/stat; the others are in /proc/loadavg. */
const OF_STAT = ['ctxt', 'processes'];
const LOADS = 3;

function open(tree: NodeTree): Collector {
  const stat = tree.shared('proc/stat');
  const loadavg = tree.open('proc/loadavg');
  const table = new KeyTable(OF_STAT);
  const values = new KeyValues(OF_STAT.length);
  const scanner = new Scanner();

  /** `1.05 0.70 0.08 3/211 4242` */
  const load = (writer: RawWriter) => {
    scanner.over(loadavg.bytes, loadavg.readPiece());
    for (let k = 0; k < LOADS; k++) {
      const value = scanner.word() ? Math.round(100 * Number(scanner.text())) : Number.NaN;
      if (!(value >= 0)) throw new Error(`${loadavg.path} has no three loads`);
      writer.number(value);
    }
    if (!scanner.word()) throw new Error(`${loadavg.path} does not say how many threads run`);
    const { bytes, from, to } = scanner;
    const slash = bytes.indexOf(SLASH, from);
    scanner.to = slash;
    const running = slash < to ? scanner.number() : Number.NaN;
    [scanner.from, scanner.to] = [slash + 1, to];
    const threads = scanner.number();
    if (!(running >= 0 && threads >= 0)) {
      throw new Error(`${loadavg.path} does not say how many threads run`);
    }
    writer.number(running);
    writer.number(threads);
  };

  const collect = (writer: RawWriter) => {
    const end = stat.read();
    scanner.over(stat.bytes, end);
    values.clear();
    do {
      if (!scanner.word()) continue;
      const key = table.find(scanner.bytes, scanner.from, scanner.to);
      if (key >= 0 && scanner.word()) values.set(key, scanner.bytes, scanner.from, scanner.to);
    } while (scanner.line());
    writer.record('ps', '-');
    values.write(writer, scanner.bytes);
    load(writer);
    writer.endRecord(METRICS.length);
  };
  return { collect, close: () => loadavg.close() };
}

export const PS: NodeType = {
  name: 'ps',
  help: 'processes, context switches and load',
  device: 'node (-)',
  source: '/proc/stat, /proc/loadavg',
  metrics: METRICS,
  open,
};
