/**
 * Types whose values are registers: a device is a box of registers, one per key, read and archived as they are. They
 * are written to only by `program`, and never a counter.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import type { Collector, NodeType } from '../types/type.ts';
import { type Hardware, hardwareOf } from './hardware.ts';
import {
  join64,
  type RegisterSpace,
  registerName,
  type SavedRegister,
  type Width,
} from './registers.ts';
import { isNarrow, type WideCounter, wideCounter, widened } from './wide-counter.ts';

export interface TypeRegister {
  readonly at: number;
  readonly width: Width;
}

/** A device's registers, one per key. */
export interface Box {
  readonly device: string;
  /** As `Hardware.space` knows it. */
  readonly space: string;
  readonly registers: readonly TypeRegister[];
}

export interface RegisterWrite extends TypeRegister {
  readonly space: string;
  readonly value: bigint;
  /** Bits of the register that it has already stay set. */
  readonly keep?: true;
}

interface RegisterType extends Omit<NodeType, 'open' | 'program'> {
  /** The devices here. @throws UnavailableError where this machine has none */
  boxes(hardware: Hardware): readonly Box[];
  /** Keys on this machine, where they depend on it. */
  metricsOn?(hardware: Hardware): readonly Metric[];
  /** What makes the counters count. @throws UnavailableError where that is not known for this machine */
  writes?(hardware: Hardware): readonly RegisterWrite[];
}

/** Registers of 64 bits, from `first` on. */
export function row(first: number, count: number, step = 1): TypeRegister[] {
  return Array.from({ length: count }, (_, k) => ({ at: first + k * step, width: 8 }));
}

interface OpenBox {
  readonly box: Box;
  readonly space: RegisterSpace;
}

/** Opens the boxes whose registers can be read. @throws UnavailableError where none can */
function openBoxes(hardware: Hardware, boxes: readonly Box[]): OpenBox[] {
  const words = new Uint32Array(2);
  const open: OpenBox[] = [];
  let reason = 'no device';
  for (const box of boxes) {
    let space: RegisterSpace | null = null;
    try {
      space = hardware.space(box.space);
      for (const { at, width } of box.registers) space.read(at, width, words);
      open.push({ box, space });
    } catch (error) {
      space?.close();
      if (!(error instanceof UnavailableError)) throw error;
      if (open.length === 0) reason = error.message;
    }
  }
  if (open.length === 0) throw new UnavailableError(reason);
  return open;
}

/** Collects boxes of registers, and writes their narrow counters as totals. */
class WideRegisterCollector implements Collector {
  readonly metrics: readonly Metric[];
  private readonly type: string;
  private readonly boxes: readonly (OpenBox & { readonly wide: readonly (WideCounter | null)[] })[];
  private readonly words = new Uint32Array(2);

  constructor(
    { root }: NodeTree,
    type: string,
    metrics: readonly Metric[],
    boxes: readonly OpenBox[],
  ) {
    this.type = type;
    this.metrics = widened(metrics);
    this.boxes = boxes.map((open) => ({
      ...open,
      wide: metrics.map((metric) =>
        isNarrow(metric) ? wideCounter(root, type, open.box.device, metric) : null,
      ),
    }));
  }

  between(): void {
    const words = this.words;
    for (const { box, space, wide } of this.boxes) {
      for (const [k, { at, width }] of box.registers.entries()) {
        if (wide[k] === null) continue;
        space.read(at, width, words);
        wide[k].step(words, performance.now() / 1000);
      }
    }
  }

  collect(writer: RawWriter): void {
    const words = this.words;
    for (const { box, space, wide } of this.boxes) {
      writer.record(this.type, box.device);
      for (const [k, { at, width }] of box.registers.entries()) {
        space.read(at, width, words);
        wide[k]?.step(words, performance.now() / 1000);
        if (wide[k] === null) writer.words(words[1], words[0]);
        else writer.bigint(wide[k].total);
      }
      writer.endRecord(this.metrics.length);
    }
  }

  close(): void {
    for (const { space } of this.boxes) space.close();
  }
}

class RegisterCollector implements Collector {
  readonly metrics: readonly Metric[];
  private readonly type: string;
  private readonly boxes: readonly OpenBox[];
  private readonly words = new Uint32Array(2);

  constructor(type: string, metrics: readonly Metric[], boxes: readonly OpenBox[]) {
    this.type = type;
    this.metrics = metrics;
    this.boxes = boxes;
  }

  collect(writer: RawWriter): void {
    const words = this.words;
    for (const { box, space } of this.boxes) {
      writer.record(this.type, box.device);
      for (const { at, width } of box.registers) {
        space.read(at, width, words);
        writer.words(words[1], words[0]);
      }
      writer.endRecord(this.metrics.length);
    }
  }

  close(): void {
    for (const { space } of this.boxes) space.close();
  }
}

/** What the registers hold, each once, in the order of writing. @throws UnavailableError */
function present(hardware: Hardware, writes: readonly RegisterWrite[]): SavedRegister[] {
  const words = new Uint32Array(2);
  const saved = new Map<string, SavedRegister>();
  for (const { space: name, at, width } of writes) {
    const key = `${name} ${at}`;
    if (saved.has(key)) continue;
    const space = hardware.space(name);
    try {
      space.read(at, width, words);
      saved.set(key, { space: name, at, width, value: String(join64(words)) });
    } finally {
      space.close();
    }
  }
  return [...saved.values()];
}

/**
 * Writes registers after `keep` has saved their contents; if one cannot be written, all are restored.
 */
function program(
  hardware: Hardware,
  writes: readonly RegisterWrite[],
  keep: (saved: readonly SavedRegister[]) => void,
): void {
  const words = new Uint32Array(2);
  const saved = present(hardware, writes);
  keep(saved);
  try {
    for (const { space: name, at, width, value, keep: keepsBits } of writes) {
      const space = hardware.space(name);
      try {
        space.read(at, width, words);
        space.write(at, width, keepsBits ? join64(words) | value : value);
      } finally {
        space.close();
      }
    }
  } catch (error) {
    restore(hardware, saved);
    throw error;
  }
}

function restore(hardware: Hardware, saved: readonly SavedRegister[]): UnavailableError | null {
  let failed: UnavailableError | null = null;
  // Backwards: what switches counting on comes first and last.
  for (const { space: name, at, width, value } of saved.toReversed()) {
    try {
      const space = hardware.space(name);
      try {
        space.write(at, width, BigInt(value));
      } finally {
        space.close();
      }
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      failed ??= error;
    }
  }
  return failed;
}

const placeOf = ({ space, at, width }: Omit<SavedRegister, 'value'>) => `${space} ${at} ${width}`;

/**
 * Restores registers, as many as possible, and only those that programming `types` writes on this machine, whatever
 * `saved` names, because it comes from a file.
 * @throws UnavailableError of the first that could not
 * @example
 * ```ts
 * import { NODE_TYPES, NodeTree, restoreRegisters, type SavedRegister } from 'triscope/node';
 *
 * const saved: SavedRegister[] = [];
 * const tree = new NodeTree();
 * const type = NODE_TYPES.find(({ program }) => program !== undefined);
 * type?.program?.(tree, (before) => saved.push(...before));
 * if (type !== undefined) restoreRegisters(tree, [type], saved);
 * tree.close();
 * ```
 */
export function restoreRegisters(
  tree: NodeTree,
  types: readonly NodeType[],
  saved: readonly SavedRegister[],
): void {
  const own = new Set(types.flatMap((type) => type.programs?.(tree).map(placeOf) ?? []));
  const strange = saved.find((register) => !own.has(placeOf(register)));
  const failed = restore(
    hardwareOf(tree),
    saved.filter((register) => own.has(placeOf(register))),
  );
  if (failed !== null) throw failed;
  if (strange === undefined) return;
  const name = registerName(strange.space, strange.at);
  throw new UnavailableError(
    `${name} is not a register that Triscope programs: it is left unchanged`,
  );
}

/** The type that a table of registers describes. */
export function registerType(definition: RegisterType): NodeType {
  const { boxes, metricsOn, writes, ...rest } = definition;
  const openWide = (tree: NodeTree) => {
    const hardware = hardwareOf(tree);
    const open = openBoxes(hardware, boxes(hardware));
    const metrics = metricsOn?.(hardware) ?? rest.metrics;
    return new WideRegisterCollector(tree, rest.name, metrics, open);
  };
  return {
    ...rest,
    ...(rest.metrics.some(isNarrow) && { openWide }),
    open: (tree) => {
      const hardware = hardwareOf(tree);
      const open = openBoxes(hardware, boxes(hardware));
      return new RegisterCollector(rest.name, metricsOn?.(hardware) ?? rest.metrics, open);
    },
    ...(writes && {
      program: (tree: NodeTree, keep: (saved: readonly SavedRegister[]) => void) => {
        const hardware = hardwareOf(tree);
        program(hardware, writes(hardware), keep);
      },
      programs: (tree: NodeTree) => {
        const hardware = hardwareOf(tree);
        try {
          return writes(hardware);
        } catch (error) {
          if (error instanceof UnavailableError) return [];
          throw error;
        }
      },
    }),
  };
}
