/**
 * How many packages, cores, CPUs and other parts a machine has, and which lie in which.
 *
 * ```
 * board ⊃ package ⊃ core ⊃ cpu        board ⊃ memory ⊃ cpu
 * board ⊃ gpu ⊃ gpu_chip ⊃ cpu        board ⊃ nic
 * ```
 * A CPU's index is the kernel's number, so that affinity masks mean the same CPUs; other indices count from 0, in the
 * order of the kernel's numbers. Source: Documentation/admin-guide/cputopology.rst, `sys/devices/system/node`.
 */
import { SIGNAL_DOMAINS, type SignalDomain } from './signals/domains.ts';

/** The files that describe it: of this machine, or of a recorded tree. */
interface Tree {
  text(path: string): string | null;
  list(folder: string, matching?: RegExp): readonly string[];
  exists(path: string): boolean;
}

/** Where a CPU lies; -1 for a part that it is not in. */
interface CpuPlace {
  readonly cpu: number;
  readonly package: number;
  readonly core: number;
  readonly memory: number;
  readonly gpu_chip: number;
  /** The kernel's number of the core within its package, or die. */
  readonly coreId: number;
}

/** A GPU and the CPUs near it. */
export interface GpuPlace {
  /** Folder such as `sys/class/drm/card0`. */
  readonly folder: string;
  /** Folders of its tiles, in order; the card's own folder if it has no tiles. */
  readonly chips: readonly string[];
}

/**
 * "0-2,7" → [0, 1, 2, 7]; [] for a text that is no list.
 * @example
 * ```ts
 * import { parseCpuList } from 'triscope/signals';
 *
 * parseCpuList('0-2,7'); // [0, 1, 2, 7]
 * ```
 */
export function parseCpuList(text: string | null): number[] {
  if (text === null || !/^\d+(-\d+)?([,\s]+\d+(-\d+)?)*$/.test(text)) return [];
  return text.split(/[,\s]+/).flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return to - from > 1 << 16 ? [] : Array.from({ length: to - from + 1 }, (_, k) => from + k);
  });
}

/** Maps each different key to its place in the order of size. */
function places(keys: readonly (readonly [number, number])[]): Map<string, number> {
  const sorted = [...keys].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const index = new Map<string, number>();
  for (const key of sorted) if (!index.has(key.join())) index.set(key.join(), index.size);
  return index;
}

const OUTER: Readonly<Record<SignalDomain, readonly SignalDomain[]>> = {
  board: [],
  package: ['board'],
  core: ['board', 'package'],
  cpu: ['board', 'package', 'core', 'memory', 'gpu', 'gpu_chip'],
  memory: ['board'],
  nic: ['board'],
  gpu: ['board'],
  gpu_chip: ['board', 'gpu'],
};

/**
 * How many packages, cores, CPUs, memories, GPUs and network cards a machine has, and which lies in which.
 * @example
 * ```ts
 * import { Machine } from 'triscope/signals';
 *
 * const { topology } = new Machine();
 * for (const cpu of topology.within('cpu', 'package', 0)) console.log(cpu); // CPUs of package 0
 * ```
 */
export class MachineTopology {
  /** GPUs and where they are. */
  readonly gpus: readonly GpuPlace[];
  /** Names of network devices: real ones of sys/class/net. */
  readonly nics: readonly string[];
  /** Kernel's numbers of memory nodes. */
  readonly nodes: readonly number[];
  /** Physical ids of packages. */
  readonly packages: readonly number[];
  private readonly cpus: readonly CpuPlace[];
  private readonly _indices: Record<SignalDomain, readonly number[]>;
  private readonly chipGpu: number[];
  private readonly cores: readonly { readonly package: number; readonly core: number }[];

  private constructor(machine: Tree) {
    const cpu = (name: string) => `sys/devices/system/cpu/${name}`;
    const number = (path: string) => Number.parseInt(machine.text(path) ?? '', 10);
    const found = machine.list('sys/devices/system/cpu', /^cpu\d+$/).flatMap((name) => {
      const id = Number(name.slice(3));
      const pack = number(`${cpu(name)}/topology/physical_package_id`);
      // An offline CPU has no topology; CPU 0 exists even if the kernel says nothing.
      if (Number.isNaN(pack)) return [];
      const siblings = `${cpu(name)}/topology/thread_siblings_list`;
      // core_id may occur in two dies of a package, so a core is named by its first sibling.
      const core = parseCpuList(machine.text(siblings))[0] ?? id;
      const coreId = number(`${cpu(name)}/topology/core_id`);
      return [{ id, pack: Math.max(0, pack), core, coreId }];
    });
    if (found.length === 0) found.push({ id: 0, pack: 0, core: 0, coreId: 0 });
    const packageAt = places(found.map(({ pack }) => [pack, 0]));
    const coreAt = places(found.map(({ pack, core }) => [pack, core]));
    this.packages = [...packageAt.keys()].map((key) => Number(key.split(',')[0]));
    this.cores = [...coreAt.keys()].map((key) => {
      const [pack, core] = key.split(',').map(Number);
      return { package: packageAt.get(`${pack},0`) ?? 0, core };
    });
    const nodes = machine.list('sys/devices/system/node', /^node\d+$/);
    this.nodes = nodes.map((name) => Number(name.slice(4)));
    const memoryOf = new Map<number, number>();
    for (const [k, name] of nodes.entries()) {
      const list = machine.text(`sys/devices/system/node/${name}/cpulist`);
      for (const id of parseCpuList(list)) memoryOf.set(id, k);
    }
    this.gpus = gpusOf(machine);
    const chips = this.gpus.flatMap(({ chips }, gpu) => chips.map(() => gpu));
    this.chipGpu = chips;
    const chipOf = chipsOfCpus(machine, this.gpus);
    this.nics = nicsOf(machine);
    this.cpus = found.map(({ id, pack, core, coreId }) => ({
      cpu: id,
      coreId,
      package: packageAt.get(`${pack},0`) ?? 0,
      core: coreAt.get(`${pack},${core}`) ?? 0,
      memory: memoryOf.get(id) ?? -1,
      gpu_chip: chipOf.get(id) ?? -1,
    }));
    const upTo = (count: number) => Array.from({ length: count }, (_, k) => k);
    this._indices = {
      board: [0],
      package: upTo(packageAt.size),
      core: upTo(coreAt.size),
      cpu: found.map(({ id }) => id),
      memory: upTo(nodes.length),
      nic: upTo(this.nics.length),
      gpu: upTo(this.gpus.length),
      gpu_chip: upTo(chips.length),
    };
  }

  /** The topology that the kernel describes below a machine's root folder. */
  static of(machine: Tree): MachineTopology {
    return new MachineTopology(machine);
  }

  /** Adds `count` GPUs of one chip each that a library knows and the kernel does not. Returns the indices of the first one. */
  addGpus(count: number): { gpu: number; chip: number } {
    const first = { gpu: this.count('gpu'), chip: this.count('gpu_chip') };
    const after = (from: number) => Array.from({ length: count }, (_, k) => from + k);
    this._indices.gpu = [...this._indices.gpu, ...after(first.gpu)];
    this._indices.gpu_chip = [...this._indices.gpu_chip, ...after(first.chip)];
    this.chipGpu.push(...after(first.gpu));
    return first;
  }

  /** Indices of the domain's parts, ascending. Those of CPUs have gaps if some are offline. */
  indices(domain: SignalDomain): readonly number[] {
    return this._indices[domain];
  }

  /** The smallest number that is larger than every index. */
  count(domain: SignalDomain): number {
    const last = this._indices[domain].at(-1);
    return last === undefined ? 0 : last + 1;
  }

  /** Whether the domain has a part with this `index`. */
  has(domain: SignalDomain, index: number): boolean {
    return this._indices[domain].includes(index);
  }

  /** Whether each part of `inner` lies in one part of `outer`, or is one. */
  nests(inner: SignalDomain, outer: SignalDomain): boolean {
    return inner === outer || OUTER[inner].includes(outer);
  }

  /** Indices of the parts of `inner` within part `index` of `outer`, ascending. */
  within(inner: SignalDomain, outer: SignalDomain, index: number): readonly number[] {
    if (inner === outer) return this.has(outer, index) ? [index] : [];
    if (!this.nests(inner, outer) || !this.has(outer, index)) return [];
    if (outer === 'board') return this._indices[inner];
    if (inner === 'core') {
      return this._indices.core.filter((core) => this.cores[core].package === index);
    }
    if (inner === 'gpu_chip') {
      return this._indices.gpu_chip.filter((chip) => this.chipGpu[chip] === index);
    }
    return this.cpus.filter((place) => this.placeOf(place, outer) === index).map((p) => p.cpu);
  }

  /** Index of the package of CPU number `cpu`; -1 if there is no such CPU. */
  packageOf(cpu: number): number {
    return this.cpus.find((place) => place.cpu === cpu)?.package ?? -1;
  }

  /** Index of the core that the kernel calls `coreId` in the package with index `pack`; -1 if there is none. */
  coreAt(pack: number, coreId: number): number {
    const is = (place: CpuPlace) => place.package === pack && place.coreId === coreId;
    return this.cpus.find(is)?.core ?? -1;
  }

  private placeOf(place: CpuPlace, outer: SignalDomain): number {
    if (outer === 'gpu') return this.chipGpu[place.gpu_chip] ?? -1;
    if (outer === 'package' || outer === 'core' || outer === 'memory' || outer === 'gpu_chip') {
      return place[outer];
    }
    return -1;
  }
}

/** Cards that can render: there are also cards that are displays only, without a driver known here. */
function gpusOf(machine: Tree): GpuPlace[] {
  return machine.list('sys/class/drm', /^card\d+$/).flatMap((name): GpuPlace[] => {
    const folder = `sys/class/drm/${name}`;
    const i915 = machine.list(`${folder}/gt`, /^gt\d+$/).map((gt) => `${folder}/gt/${gt}`);
    if (i915.length > 0) return [{ folder, chips: i915 }];
    const xe = machine.list(`${folder}/device`, /^tile\d+$/).map((t) => `${folder}/device/${t}`);
    if (xe.length > 0) return [{ folder, chips: xe }];
    const tells = ['gt_act_freq_mhz', 'device/gpu_busy_percent', 'device/hwmon'];
    return tells.some((file) => machine.exists(`${folder}/${file}`))
      ? [{ folder, chips: [folder] }]
      : [];
  });
}

/** The CPUs near each GPU, divided evenly among GPUs that are near the same CPUs. */
function chipsOfCpus(machine: Tree, gpus: readonly GpuPlace[]): Map<number, number> {
  const nearby = new Map<string, number[]>();
  let chip = 0;
  for (const { folder, chips } of gpus) {
    const list = machine.text(`${folder}/device/local_cpulist`) ?? '';
    const near = nearby.get(list) ?? [];
    for (let k = 0; k < chips.length; k++) near.push(chip++);
    nearby.set(list, near);
  }
  const of = new Map<number, number>();
  for (const [list, chips] of nearby) {
    const cpus = parseCpuList(list);
    for (const [k, cpu] of cpus.entries()) {
      of.set(cpu, chips[Math.floor((k * chips.length) / cpus.length)]);
    }
  }
  return of;
}

/** Network devices that are hardware: InfiniBand devices first, then those of sys/class/net that have a device. */
function nicsOf(machine: Tree): string[] {
  const infiniband = machine.list('sys/class/infiniband');
  const net = machine.list('sys/class/net').filter((name) => {
    return machine.exists(`sys/class/net/${name}/device`);
  });
  return [...infiniband, ...net];
}

/**
 * Whether `name` is a domain.
 * @example
 * ```ts
 * import { isSignalDomain } from 'triscope/signals';
 *
 * isSignalDomain('package'); // true
 * isSignalDomain('socket'); // false
 * ```
 */
export function isSignalDomain(name: string): name is SignalDomain {
  return (SIGNAL_DOMAINS as readonly string[]).includes(name);
}
