/** What the hardware types share: the processor, its CPUs and packages, and the open registers. */
import { join } from 'node:path';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { recognise } from './known-marks.ts';
import { addressOf, MappedSpace, recordedSpace } from './memory-mapped.ts';
import { PCI_FOLDER, type PciFunction, pciFunctions } from './pci.ts';
import { onlineCpus, type Package, type Processor, packagesOf, processorOf } from './processor.ts';
import { contentOf, RecordedMsr, RecordedPci } from './recorded-registers.ts';
import { RegisterFile, type RegisterSpace } from './registers.ts';

/** A write to a register of a recorded tree. */
export interface RecordedWrite {
  /** Name of the register space, such as `msr 0`. */
  readonly space: string;
  /** Number of the register, or its byte offset in the space. */
  readonly at: number;
  /** The bits that were written. */
  readonly value: bigint;
}

/** `msr 0`, `pci 7f/10.0`, `pci 0001:7f/10.0`, `mem 7f/10.0`: only such names become paths. */
const SPACE =
  /^(?:msr \d{1,5}|at [0-9a-f]{1,13}|(?:pci|mem) (?:[0-9a-f]{4}:)?[0-9a-f]{2}\/[0-9a-f]{2}\.[0-7])$/;

interface Shared {
  readonly space: RegisterSpace;
  users: number;
}

/**
 * Registers of a machine's processors and chipset: model-specific ones, those of PCI functions, and those in memory. Reading
 * a register that does not exist throws UnavailableError.
 * @example
 * ```ts
 * import { hardwareOf, NodeTree } from 'triscope/node';
 *
 * const tree = new NodeTree();
 * for (const cpu of hardwareOf(tree).cpus) console.log(cpu); // throws UnavailableError without /dev/cpu/0/msr
 * tree.close();
 * ```
 */
export class Hardware {
  private readonly _tree: NodeTree;
  private readonly open = new Map<string, Shared>();
  /** Recorded registers are kept, so that what was written can be read back. */
  private readonly recorded = new Map<string, RegisterSpace>();
  /** Writes to a recorded tree, in order. */
  readonly writes: RecordedWrite[] = [];
  private _processor: Processor | null | undefined;
  private noMsr: UnavailableError | null = null;
  private _cpus: readonly number[] | undefined;
  private _packages: readonly Package[] | undefined;
  private _functions: readonly PciFunction[] | undefined;

  /** @param tree the tree with the devices */
  constructor(tree: NodeTree) {
    this._tree = tree;
  }

  /** The tree with its devices. */
  get tree(): NodeTree {
    return this._tree;
  }

  /** @throws UnavailableError if nothing tells which processor this is */
  get processor(): Processor {
    if (this._processor === undefined) {
      this._processor = processorOf(this._tree);
      if (this._processor === null && !this._tree.isThisMachine) this._processor = recognise(this);
    }
    if (this._processor !== null) return this._processor;
    throw new UnavailableError('neither /proc/cpuinfo nor CPUID names an Intel or AMD processor');
  }

  /** CPUs that are online, ascending. @throws UnavailableError also if this machine has no registers that can be read */
  get cpus(): readonly number[] {
    if (this._cpus !== undefined) return this._cpus;
    const cpus = onlineCpus(this._tree);
    this.requireMsr(cpus[0]);
    this._cpus = cpus;
    return cpus;
  }

  /** @throws UnavailableError as for `cpus` */
  get packages(): readonly Package[] {
    this._packages ??= packagesOf(this._tree, this.cpus);
    return this._packages;
  }

  /** Shared by all types and CPUs: there may be hundreds of registers. */
  private requireMsr(cpu: number): void {
    if (!this._tree.isThisMachine) return;
    if (this.noMsr !== null) throw this.noMsr;
    try {
      this.msr(cpu).close();
    } catch (error) {
      if (error instanceof UnavailableError) this.noMsr = error;
      throw error;
    }
  }

  /** PCI functions of the machine, in the order of their addresses. */
  get functions(): readonly PciFunction[] {
    this._functions ??= pciFunctions(this._tree);
    return this._functions;
  }

  /** The registers of CPU number `cpu`. The caller closes them. @throws UnavailableError */
  msr(cpu: number): RegisterSpace {
    return this.space(`msr ${cpu}`);
  }

  /** The configuration space of a PCI function. @throws UnavailableError */
  pci(name: string): RegisterSpace {
    return this.space(`pci ${name}`);
  }

  /**
   * The configuration space of the function at this bus, device and function, whatever its ids: as the kernel lists
   * it, or in memory. Returns the name that `space` takes.
   */
  functionAt(name: string): string {
    return this.functions.some((known) => known.name === name) ? `pci ${name}` : `mem ${name}`;
  }

  /** Registers by name, as in the file of saved registers. @throws UnavailableError */
  space(name: string): RegisterSpace {
    if (!this._tree.isThisMachine) return this.fromTree(name);
    let shared = this.open.get(name);
    if (shared === undefined) {
      shared = { space: this.fromMachine(name), users: 0 };
      this.open.set(name, shared);
    }
    const { space } = shared;
    shared.users++;
    return {
      name,
      read: (at, width, words) => space.read(at, width, words),
      write: (at, width, value) => space.write(at, width, value),
      close: () => this.release(name),
    };
  }

  /** @throws UnavailableError if it is no such name */
  private path(name: string): string {
    if (!SPACE.test(name)) throw new UnavailableError(`there are no registers called ${name}`);
    const [kind, place] = name.split(' ');
    if (kind === 'pci') return `${PCI_FOLDER}/${place}`;
    return this._tree.isThisMachine ? `dev/cpu/${place}/msr` : `msr/cpu${place}`;
  }

  private fromMachine(name: string): RegisterSpace {
    const path = this.path(name);
    const [kind, place] = name.split(' ');
    return kind === 'mem' || kind === 'at'
      ? new MappedSpace(name, '/dev/mem', addressOf(this._tree, place))
      : new RegisterFile(name, `/${path}`);
  }

  private fromTree(name: string): RegisterSpace {
    let space = this.recorded.get(name);
    if (space === undefined) {
      const path = join(this._tree.root, this.path(name));
      const record = (where: string, at: number, value: bigint) =>
        this.writes.push({ space: where, at, value });
      if (name.startsWith('msr')) space = new RecordedMsr(name, path, record);
      else if (name.startsWith('pci')) space = new RecordedPci(name, contentOf(path), record);
      else space = new RecordedPci(name, recordedSpace(this._tree, name.split(' ')[1]), record);
      this.recorded.set(name, space);
    }
    return space;
  }

  private release(name: string): void {
    const shared = this.open.get(name);
    if (shared === undefined || --shared.users > 0) return;
    shared.space.close();
    this.open.delete(name);
  }
}

const known = new WeakMap<NodeTree, Hardware>();

/**
 * The hardware of a tree: one object for all types, so that the processor is identified only once.
 * @example
 * ```ts
 * import { hardwareOf, NodeTree } from 'triscope/node';
 *
 * const tree = new NodeTree('recorded'); // a folder with proc, sys and msr
 * console.log(hardwareOf(tree).packages.length);
 * tree.close();
 * ```
 */
export function hardwareOf(tree: NodeTree): Hardware {
  let hardware = known.get(tree);
  if (hardware === undefined) {
    hardware = new Hardware(tree);
    known.set(tree, hardware);
  }
  return hardware;
}
