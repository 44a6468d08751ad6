/** `block`: traffic of block devices except ram and loop devices. Keys as in tacc_stats: the first 11 numbers. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { isNumber, Scanner } from './scan.ts';
import { counter, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/block';

const METRICS = [
  counter('rd_ios', 'reads done'),
  counter('rd_merges', 'reads merged with others before they were sent'),
  counter('rd_sectors', 'sectors read', '512B'),
  counter('rd_ticks', 'time of all reads; the kernel may count 32 bits', 'ms'),
  counter('wr_ios', 'writes done'),
  counter('wr_merges', 'writes merged with others before they were sent'),
  counter('wr_sectors', 'sectors written', '512B'),
  counter('wr_ticks', 'time of all writes; the kernel may count 32 bits', 'ms'),
  gauge('in_flight', 'requests under way'),
  counter('io_ticks', 'time in which any request was under way', 'ms'),
  counter('time_in_queue', 'time of all requests, waiting too', 'ms'),
];

function open(tree: NodeTree) {
  const scanner = new Scanner();
  const device = (name: string): Device | null => {
    if (/^(ram|loop)/.test(name)) return null;
    const file = tree.open(`${FOLDER}/${name}/stat`);
    const write = (writer: RawWriter) => {
      scanner.over(file.bytes, file.readPiece());
      writer.record('block', name);
      let values = 0;
      while (values < METRICS.length && scanner.word()) {
        const { bytes, from, to } = scanner;
        if (!isNumber(bytes, from, to)) break;
        writer.digits(bytes, from, to);
        values++;
      }
      if (values === 0) throw new Error(`${file.path} has no numbers`);
      for (; values < METRICS.length; values++) writer.number(0);
      writer.endRecord(METRICS.length);
    };
    return { write, close: () => file.close() };
  };
  return new Devices(`/${FOLDER}`, () => tree.devices(FOLDER), device);
}

export const BLOCK: NodeType = {
  name: 'block',
  help: 'traffic of block devices',
  device: 'block device, except ram* and loop*',
  source: '/sys/block/DEVICE/stat',
  metrics: METRICS,
  open,
};
