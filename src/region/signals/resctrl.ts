/**
 * Bytes between each last-level cache and memory, where the file system resctrl is mounted: of all tasks that are in no group of their
 * own. Source: Documentation/arch/x86/resctrl.rst.
 */
import type { Machine } from '../machine.ts';
import type { Tick } from '../tick.ts';
import { NOTHING, type Provider, type SignalDeclaration } from './provider.ts';
import { totalOfFile } from './running-total.ts';
import { sumOf } from './sum-of.ts';

const FOLDER = 'sys/fs/resctrl/mon_data';
const FILE = 'mbm_total_bytes';

const BYTES: SignalDeclaration = {
  name: 'RESCTRL::MEMORY_BYTES',
  description:
    'Bytes that the package read from memory and wrote to it, memory of other packages included',
  unit: 'B',
  domain: 'package',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
};

/** Files of a package's caches. */
function filesOf(machine: Machine): Map<number, string[]> {
  const { topology } = machine;
  const packageOf = new Map<number, number>();
  for (const index of topology.indices('package')) {
    for (const cpu of topology.within('cpu', 'package', index)) {
      packageOf.set(machine.number(`sys/devices/system/cpu/cpu${cpu}/cache/index3/id`), index);
    }
  }
  const files = new Map<number, string[]>();
  for (const name of machine.list(FOLDER, /^mon_L3_\d+$/)) {
    const path = `${FOLDER}/${name}/${FILE}`;
    const index = packageOf.get(Number(name.slice('mon_L3_'.length)));
    if (index === undefined || !(machine.number(path) >= 0)) continue;
    files.set(index, [...(files.get(index) ?? []), path]);
  }
  return files;
}

export const resctrl: Provider = {
  name: 'resctrl',
  source: '/sys/fs/resctrl, where it is mounted (never run on hardware)',
  declares: [BYTES],
  open({ machine }) {
    const files = filesOf(machine);
    if (files.size === 0) return NOTHING;
    const open = (index: number, tick: Tick) =>
      sumOf((files.get(index) ?? []).map((path) => totalOfFile(tick, tick.file(path), 1)));
    return { signals: [{ ...BYTES, open }] };
  },
};
