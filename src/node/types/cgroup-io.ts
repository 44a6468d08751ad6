/**
 * `cgroup_io`: reads and writes of each of Slurm's jobs, summed over block devices. A device that lies on others (LVM,
 * RAID) is left out, as those count the same I/O. A job that has read nothing has an empty file: zeros. Source:
 * Documentation/admin-guide/cgroup-v2.rst, io.stat.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { JOBS_PARENT } from '../slurm.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { JOB, JOB_FOLDER, jobDevices } from './cgroup.ts';
import { digitsAfter, textOf } from './file-fields.ts';
import { type Collector, counter, type NodeType } from './type.ts';

const METRICS = [
  counter('rbytes', 'read', 'B'),
  counter('wbytes', 'written', 'B'),
  counter('rios', 'reads'),
  counter('wios', 'writes'),
  counter('dbytes', 'discarded', 'B'),
  counter('dios', 'discards'),
];
const WORDS = METRICS.map(({ key }) => [` ${key}=`]);
const WRAP = 2n ** 64n;

function open(tree: NodeTree): Collector {
  if (tree.text(`${JOBS_PARENT}/io.stat`) === null) {
    throw new UnavailableError(
      `there is no /${JOBS_PARENT}/io.stat, a file of control groups of version 2`,
    );
  }
  /** By number, `8:0`. */
  const stacked = new Map<string, boolean>();
  const isStacked = (device: string): boolean => {
    let known = stacked.get(device);
    if (known === undefined) {
      known = (tree.list(`sys/dev/block/${device}/slaves`) ?? []).length > 0;
      stacked.set(device, known);
    }
    return known;
  };
  const devices = jobDevices(tree, (folder, job) => {
    const file = tree.open(`${folder}/io.stat`);
    const write = (writer: RawWriter) => {
      const sums = METRICS.map(() => 0n);
      for (const line of textOf(file, file.read()).split('\n')) {
        const [device] = /^\d+:\d+(?= )/.exec(line) ?? [];
        if (line === '' || (device !== undefined && isStacked(device))) continue;
        if (device === undefined) throw new Error(`${file.path} has a line without a device`);
        for (const [k, words] of WORDS.entries()) sums[k] += BigInt(digitsAfter(line, words) ?? 0);
      }
      writer.record('cgroup_io', job);
      for (const sum of sums) writer.bigint(sum % WRAP);
      writer.endRecord(METRICS.length);
    };
    return { write, close: () => file.close() };
  });
  return { collect: (writer) => devices.collect(writer), close: () => devices.close() };
}

export const CGROUP_IO: NodeType = {
  name: 'cgroup_io',
  help: 'reads and writes of jobs',
  device: JOB,
  source: `${JOB_FOLDER}/io.stat`,
  metrics: METRICS,
  open,
};
