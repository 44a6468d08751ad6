/** Trees of machines with hardware counters, made by hand. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Collection, NODE_TYPES, NodeTree, type NodeType } from 'triscope/node';
import { afterAll } from 'vitest';
import type { SavedRegister } from '../../../src/node/hardware/registers.ts';

export const folder = mkdtempSync(join(tmpdir(), 'triscope-hardware-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export interface Machine {
  /** Vendor, family, model. */
  readonly processor?: readonly ['GenuineIntel' | 'AuthenticAMD', number, number];
  /** Package and core of each CPU: four CPUs in two packages where not said. */
  readonly cpus?: readonly (readonly [number, number])[];
  /** `msr/cpuN`: a line per register, for each CPU that is named. */
  readonly msr?: Readonly<Record<number, string>>;
  /** PCI functions: device id, then offset → value of 32 bits. */
  readonly pci?: Readonly<Record<string, readonly [number, Readonly<Record<number, number>>]>>;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** As the trees that the original collected from: even CPUs in package 0. */
const FOUR = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

function write(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Adds to a folder what says which processor it is of. */
export function identify(root: string, { processor, cpus = FOUR }: Machine): void {
  const last = cpus.length - 1;
  write(root, 'sys/devices/system/cpu/online', last === 0 ? '0\n' : `0-${last}\n`);
  const threads = new Set(cpus.map(String)).size < cpus.length;
  const blocks = cpus.map(([socket, core], cpu) => {
    const topology = `sys/devices/system/cpu/cpu${cpu}/topology`;
    write(root, `${topology}/physical_package_id`, `${socket}\n`);
    write(root, `${topology}/core_id`, `${core}\n`);
    const [vendor, family, model] = processor ?? ['GenuineIntel', 6, 0];
    return [
      `processor\t: ${cpu}`,
      `vendor_id\t: ${vendor}`,
      `cpu family\t: ${family}`,
      `model\t\t: ${model}`,
      `model name\t: made by hand, model 99`,
      `physical id\t: ${socket}`,
      `siblings\t: ${threads ? 2 : 1}`,
      `core id\t\t: ${core}`,
      `cpu cores\t: 1`,
    ].join('\n');
  });
  if (processor) write(root, 'proc/cpuinfo', `${blocks.join('\n\n')}\n\n`);
}

let made = 0;

export function machine(options: Machine): string {
  const root = join(folder, `machine-${made++}`);
  identify(root, options);
  for (const [cpu, text] of Object.entries(options.msr ?? {})) write(root, `msr/cpu${cpu}`, text);
  for (const [name, [id, registers]] of Object.entries(options.pci ?? {})) {
    const bytes = Buffer.alloc(4096);
    bytes.writeUInt16LE(0x8086, 0);
    bytes.writeUInt16LE(id, 2);
    for (const [at, value] of Object.entries(registers)) bytes.writeUInt32LE(value, Number(at));
    write(root, `proc/bus/pci/${name}`, bytes);
  }
  for (const [path, content] of Object.entries(options.files ?? {})) write(root, path, content);
  return root;
}

export function typeNamed(name: string): NodeType {
  const type = NODE_TYPES.find((candidate) => candidate.name === name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

export interface Collected {
  /** `!type …` */
  readonly schemas: readonly string[];
  readonly records: readonly string[];
  readonly failures: readonly string[];
}

/** Programs a type's counters; gives what was kept before. */
export function program(type: string, tree: NodeTree): SavedRegister[] {
  const saved: SavedRegister[] = [];
  typeNamed(type).program?.(tree, (held) => saved.push(...held));
  return saved;
}

/** A header and a group of these types; programmed first, where asked. */
export function collect(root: string, types: readonly string[], programs = false): Collected {
  let text = '';
  const collection = new Collection((bytes) => (text += Buffer.from(bytes).toString()), {
    root,
    types,
  });
  const failures: string[] = [];
  for (const type of programs ? types : []) {
    try {
      program(type, collection.tree);
    } catch (error) {
      failures.push(`${type}: ${(error as Error).message}`);
    }
  }
  collection.writer.header();
  collection.collect(['7'], undefined, ({ type, reason }) => failures.push(`${type}: ${reason}`));
  collection.close();
  const lines = text.split('\n');
  return {
    schemas: lines.filter((line) => line.startsWith('!')),
    records: lines.filter((line) => types.includes(line.split(' ')[0])),
    failures,
  };
}

/** Why a type is not there; null where it is. */
export function missing(root: string, type: string): string | null {
  try {
    typeNamed(type).open(new NodeTree(root)).close();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
