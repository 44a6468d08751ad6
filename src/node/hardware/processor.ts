/** Which processor a machine has, and where its CPUs lie. Sources: proc_cpuinfo(5), cpuid(4), the manuals' CPUID. */
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DIRECT } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';

export interface Processor {
  readonly vendor: 'intel' | 'amd';
  readonly family: number;
  readonly model: number;
  /** Programmable counters of a logical CPU according to CPUID; null if it was not asked. */
  readonly counters: number | null;
  /** Whether cores have several logical CPUs; null if unknown. */
  readonly threaded: boolean | null;
}

/** `06_2D`, the form in which Intel's manual names models. */
export function modelName({ vendor, family, model }: Processor): string {
  const two = (value: number) => value.toString(16).toUpperCase().padStart(2, '0');
  return `${vendor === 'intel' ? 'Intel' : 'AMD'} ${two(family)}_${two(model)}`;
}

const VENDORS: Readonly<Record<string, Processor['vendor']>> = {
  GenuineIntel: 'intel',
  AuthenticAMD: 'amd',
};
/** More than /proc/cpuinfo says about the first CPU; the kernel makes only as much text as is read. */
const ENOUGH = 8192;

/** The first bytes of a file; null if it cannot be read. */
function head(path: string, length: number, at = 0): Buffer | null {
  let file = -1;
  try {
    file = openSync(path, DIRECT);
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  } catch {
    return null;
  } finally {
    if (file >= 0) closeSync(file);
  }
}

/** A leaf of CPUID on CPU 0: EAX, EBX, ECX, EDX; null if it cannot be read. */
function cpuid(tree: NodeTree, leaf: number): Buffer | null {
  // A recorded file could not give different leaves.
  if (!tree.isThisMachine) return null;
  const bytes = head('/dev/cpu/0/cpuid', 16, leaf);
  return bytes?.length === 16 ? bytes : null;
}

function fromCpuid(tree: NodeTree): Omit<Processor, 'counters'> | null {
  const [first, second] = [cpuid(tree, 0), cpuid(tree, 1)];
  if (first === null || second === null) return null;
  const letters = Buffer.concat([
    first.subarray(4, 8),
    first.subarray(12, 16),
    first.subarray(8, 12),
  ]);
  const vendor = VENDORS[letters.toString('latin1')];
  if (vendor === undefined) return null;
  const signature = second.readUInt32LE(0);
  const base = (signature >>> 8) & 0xf;
  const family = base === 0xf ? base + ((signature >>> 20) & 0xff) : base;
  const low = (signature >>> 4) & 0xf;
  const model = base === 0x6 || base === 0xf ? ((signature >>> 12) & 0xf0) | low : low;
  return { vendor, family, model, threaded: null };
}

function fromCpuinfo(tree: NodeTree): Omit<Processor, 'counters'> | null {
  const text = head(join(tree.root, 'proc/cpuinfo'), ENOUGH)?.toString('latin1') ?? '';
  const field = (name: string) => new RegExp(`^${name}\\s*: *(.*)$`, 'm').exec(text)?.[1];
  const vendor = VENDORS[field('vendor_id') ?? ''];
  const [family, model] = [Number(field('cpu family')), Number(field('model'))];
  if (vendor === undefined || !Number.isInteger(family) || !Number.isInteger(model)) return null;
  const [siblings, cores] = [Number(field('siblings')), Number(field('cpu cores'))];
  const threaded = siblings > 0 && cores > 0 ? siblings > cores : null;
  return { vendor, family, model, threaded };
}

/** The processor; null if nothing tells which one it is. */
export function processorOf(tree: NodeTree): Processor | null {
  const known = fromCpuinfo(tree) ?? fromCpuid(tree);
  if (known === null) return null;
  // Architectural performance monitoring: EAX[15:8].
  const leaf = known.vendor === 'intel' ? cpuid(tree, 0xa) : null;
  return { ...known, counters: leaf === null ? null : leaf[1] };
}

/** Numbers of a list such as `0-3,8`. */
export function numbersOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const match = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(part);
    if (!match) return [];
    const from = Number(match[1]);
    const to = Number(match[2] ?? from);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => from + k);
  });
}

/** CPUs that are online, ascending. @throws UnavailableError */
export function onlineCpus(tree: NodeTree): number[] {
  const cpus = numbersOf(tree.text('sys/devices/system/cpu/online') ?? '');
  if (cpus.length > 0) return cpus;
  throw new UnavailableError('/sys/devices/system/cpu/online does not say which CPUs there are');
}

export interface Package {
  /** The kernel's number of the package. */
  readonly id: number;
  /** Ascending. */
  readonly cpus: readonly number[];
  readonly cores: number;
  /** The first CPU of each core, ascending. */
  readonly firstOfCore: readonly number[];
}

/** CPU → [package, core], from sysfs or else from /proc/cpuinfo. */
function places(tree: NodeTree, cpus: readonly number[]): Map<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>();
  for (const cpu of cpus) {
    const folder = `sys/devices/system/cpu/cpu${cpu}/topology`;
    const [socket, core] = ['physical_package_id', 'core_id'].map((file) =>
      tree.text(`${folder}/${file}`),
    );
    if (socket !== null && core !== null) found.set(cpu, [Number(socket), Number(core)]);
  }
  if (found.size > 0) return found;
  for (const block of (tree.text('proc/cpuinfo') ?? '').split(/\n\s*\n/)) {
    const field = (name: string) => new RegExp(`^${name}\\s*: *(\\d+)$`, 'm').exec(block)?.[1];
    const [cpu, socket, core] = [field('processor'), field('physical id'), field('core id')];
    if (cpu && socket && core && cpus.includes(Number(cpu))) {
      found.set(Number(cpu), [Number(socket), Number(core)]);
    }
  }
  return found;
}

/** Packages of these CPUs, ascending. @throws UnavailableError if nothing tells which CPU lies where */
export function packagesOf(tree: NodeTree, cpus: readonly number[]): readonly Package[] {
  const found = places(tree, cpus);
  if (found.size === 0) {
    throw new UnavailableError('neither sysfs nor /proc/cpuinfo says which package each CPU is in');
  }
  const ids = [...new Set([...found.values()].map(([id]) => id))].sort((a, b) => a - b);
  return ids.map((id) => {
    const own = cpus.filter((cpu) => found.get(cpu)?.[0] === id);
    const coreOf = (cpu: number) => found.get(cpu)?.[1];
    const firstOfCore = own.filter(
      (cpu) => own.find((other) => coreOf(other) === coreOf(cpu)) === cpu,
    );
    return { id, cpus: own, cores: firstOfCore.length, firstOfCore };
  });
}
