import { Machine, parseCpuList } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { cpus, Tree, TWO_BY_TWO } from './support/tree.ts';

const topologyOf = (files: Record<string, string | number>) =>
  new Machine(new Tree(files).root).topology;

describe('the topology', () => {
  const two = topologyOf(TWO_BY_TWO);

  it('counts the parts of each kind', () => {
    const counts = (['board', 'package', 'core', 'cpu', 'memory', 'nic', 'gpu'] as const).map(
      (domain) => two.count(domain),
    );
    expect(counts).toEqual([1, 2, 4, 8, 2, 0, 0]);
  });

  it('knows which part lies in which', () => {
    expect(two.within('cpu', 'package', 0)).toEqual([0, 1, 4, 5]);
    expect(two.within('cpu', 'core', 2)).toEqual([2, 6]);
    expect(two.within('core', 'package', 1)).toEqual([2, 3]);
    expect(two.within('cpu', 'memory', 1)).toEqual([2, 3, 6, 7]);
    expect(two.within('package', 'board', 0)).toEqual([0, 1]);
    expect(two.within('cpu', 'package', 2)).toEqual([]);
  });

  it('nests cpu in core in package, and all in the board, never the other way', () => {
    expect(two.nests('cpu', 'core')).toBe(true);
    expect(two.nests('core', 'cpu')).toBe(false);
    expect(two.nests('memory', 'package')).toBe(false);
    expect(two.nests('gpu', 'board')).toBe(true);
  });

  it("leaves out CPUs that are offline, and keeps the kernel's numbers of the others", () => {
    const files: Record<string, string | number> = {
      ...cpus([
        [0, 0],
        [0, 1],
        [0, 2],
      ]),
    };
    for (const path of Object.keys(files)) if (path.includes('cpu1/')) delete files[path];
    const topology = topologyOf({ ...files, 'sys/devices/system/cpu/cpu1/online': 0 });
    expect(topology.indices('cpu')).toEqual([0, 2]);
    expect(topology.count('cpu')).toBe(3);
    expect(topology.count('core')).toBe(2);
  });

  it('numbers packages without gaps, whatever the firmware calls them', () => {
    const topology = topologyOf(
      cpus([
        [36, 0],
        [0, 0],
      ]),
    );
    expect(topology.packages).toEqual([0, 36]);
    expect(topology.packageOf(0)).toBe(1);
  });

  it('has one CPU where a tree tells nothing', () => {
    expect(topologyOf({}).indices('cpu')).toEqual([0]);
  });

  it('counts network devices that are hardware', () => {
    const topology = topologyOf({
      'sys/class/net/lo/operstate': 'unknown',
      'sys/class/net/eth0/device/vendor': '0x1',
      'sys/class/infiniband/mlx5_0/node_guid': '0',
    });
    expect(topology.nics).toEqual(['mlx5_0', 'eth0']);
  });

  it('deals the CPUs near several GPUs out to them, and GPUs out to their tiles', () => {
    const topology = topologyOf({
      ...cpus([
        [0, 0],
        [0, 1],
        [0, 2],
        [0, 3],
      ]),
      'sys/class/drm/card0/gt/gt0/rps_act_freq_mhz': 300,
      'sys/class/drm/card0/gt/gt1/rps_act_freq_mhz': 300,
      'sys/class/drm/card0/device/local_cpulist': '0-3',
      'sys/class/drm/card1/device/gpu_busy_percent': 5,
      'sys/class/drm/card1/device/local_cpulist': '0-3',
      'sys/class/drm/card2/device/enable': 1,
    });
    expect(topology.count('gpu')).toBe(2);
    expect(topology.within('gpu_chip', 'gpu', 0)).toEqual([0, 1]);
    expect(topology.within('gpu_chip', 'gpu', 1)).toEqual([2]);
    expect(topology.within('cpu', 'gpu', 0)).toEqual([0, 1, 2]);
    expect(topology.within('cpu', 'gpu_chip', 2)).toEqual([3]);
  });

  it.each([
    ['0-2,7', [0, 1, 2, 7]],
    ['3', [3]],
    ['0 1', [0, 1]],
    ['', []],
    ['none', []],
    ['0-99999999', []],
  ])('reads the list of CPUs %j', (text, expected) => {
    expect(parseCpuList(text)).toEqual(expected);
  });
});
