/** PCI functions of a machine. Source: proc_bus_pci(5); vendor and device are in the first four bytes. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DIRECT } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';

export interface PciFunction {
  /** Bus, device and function: `7f/10.0`. */
  readonly name: string;
  readonly bus: number;
  readonly vendor: number;
  readonly device: number;
}

export const PCI_FOLDER = 'proc/bus/pci';
export const INTEL = 0x8086;

function list(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The kernel's list: bus, device and function in 16 bits, then vendor and device. */
function listed(tree: NodeTree): PciFunction[] {
  const found: PciFunction[] = [];
  for (const line of (tree.text(`${PCI_FOLDER}/devices`) ?? '').split('\n')) {
    const match = /^([0-9a-f]{2})([0-9a-f]{2})\s+([0-9a-f]{4})([0-9a-f]{4})\s/.exec(line);
    if (!match) continue;
    const [bus, slot, vendor, device] = match.slice(1).map((text) => Number.parseInt(text, 16));
    const dev = (slot >> 3).toString(16).padStart(2, '0');
    found.push({ name: `${match[1]}/${dev}.${slot & 7}`, bus, vendor, device });
  }
  return found;
}

function scanned(tree: NodeTree, buses: readonly string[]): PciFunction[] {
  const found: PciFunction[] = [];
  const bytes = Buffer.alloc(4);
  for (const bus of buses) {
    for (const slot of list(join(tree.root, PCI_FOLDER, bus))) {
      let file = -1;
      try {
        file = openSync(join(tree.root, PCI_FOLDER, bus, slot), DIRECT);
        if (readSync(file, bytes, 0, 4, 0) < 4) continue;
      } catch {
        continue;
      } finally {
        if (file >= 0) closeSync(file);
      }
      found.push({
        name: `${bus}/${slot}`,
        bus: Number.parseInt(bus.slice(-2), 16),
        vendor: bytes.readUInt16LE(0),
        device: bytes.readUInt16LE(2),
      });
    }
  }
  return found;
}

/** All functions, by bus and slot. */
export function pciFunctions(tree: NodeTree): readonly PciFunction[] {
  // Buses beyond the first domain are named 0001:00; the kernel's list leaves the domain out.
  const buses = list(join(tree.root, PCI_FOLDER)).filter((name) =>
    /^(?:[0-9a-f]{4}:)?[0-9a-f]{2}$/.test(name),
  );
  const known = buses.some((name) => name.includes(':')) ? [] : listed(tree);
  return known.length > 0 ? known : scanned(tree, buses);
}
