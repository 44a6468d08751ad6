/**
 * Clients of Lustre: their `stats` files, in each place where some version of Lustre puts them, summed by file system.
 * Clients with the same super block belong together; it is the last 16 digits of a name such as
 * `scratch-OST0001-osc-ffff8102658ec800`.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { hasVanished } from './devices.ts';
import { KeyTable, KeyValues } from './key-values.ts';
import { Scanner } from './scan.ts';
import type { Collector, NodeType } from './type.ts';

/** Up to 2.11; from 2.12 on; where 2.12 and later keep files that are not statistics. */
const PLACES = ['proc/fs/lustre', 'sys/kernel/debug/lustre', 'sys/fs/lustre'];
const DEBUG = 'sys/kernel/debug';
const SUPER_BLOCK = /^(.+)-([0-9a-f]{16})$/;
/** Number of words between a line's count and its sum: `samples [bytes] MIN MAX`. */
const BEFORE_SUM = 4;

/** Names of the clients in a folder such as `llite`, in all places; only names with a super block. */
function clients(tree: NodeTree, folder: string): string[] {
  const names = new Set<string>();
  for (const place of PLACES) {
    for (const name of tree.list(`${place}/${folder}`) ?? []) {
      if (SUPER_BLOCK.test(name)) names.add(name);
    }
  }
  return [...names].sort();
}

/** @throws UnavailableError if no file system is mounted */
export function hasClients(tree: NodeTree, folder: string): true {
  if (clients(tree, folder).length > 0) return true;
  const places = `/${PLACES.join(`/${folder}, /`)}/${folder}`;
  // A folder that cannot be listed may have one.
  const isHidden = tree.list('sys/kernel') !== null && tree.list(DEBUG) === null;
  const hidden = isHidden ? `; needs root to look into /${DEBUG}` : '';
  throw new UnavailableError(`no Lustre client in ${places}${hidden}`);
}

function openStats(tree: NodeTree, folder: string, name: string): KernelFile {
  let reason: unknown;
  for (const place of PLACES) {
    try {
      return tree.open(`${place}/${folder}/${name}/stats`);
    } catch (error) {
      reason ??= error;
    }
  }
  throw reason;
}

/** Where a key's value is: the count in the line of that name, or the sum, which is the first number if there is no count. */
interface Source {
  readonly key: number;
  readonly wants: 'count' | 'sum';
}

/** Lines whose names differ from their keys: the number of requests, and the time that they took. */
const WAIT_LINE = 'req_waittime';

class LustreStats implements Collector {
  private readonly tree: NodeTree;
  private readonly type: NodeType;
  private readonly lines: KeyTable;
  private readonly sources: readonly (readonly Source[])[];
  private readonly files = new Map<string, KernelFile>();
  private readonly values = new Map<string, KeyValues>();
  private readonly scanner = new Scanner();

  constructor(tree: NodeTree, type: NodeType) {
    hasClients(tree, type.name);
    this.tree = tree;
    this.type = type;
    const lines = new Map<string, Source[]>();
    type.metrics.forEach(({ key, unit }, k) => {
      const isWait = key === 'wait' || key === 'reqs';
      const line = isWait ? WAIT_LINE : key;
      const source: Source = { key: k, wants: unit === '' ? 'count' : 'sum' };
      lines.set(line, [...(lines.get(line) ?? []), source]);
    });
    this.lines = new KeyTable([...lines.keys()]);
    this.sources = [...lines.values()];
  }

  collect(writer: RawWriter): void {
    const names = clients(this.tree, this.type.name);
    const present = new Set(names);
    for (const name of this.files.keys()) if (!present.has(name)) this.drop(name);
    this.values.clear();
    let trouble: unknown = null;
    for (const name of names) {
      try {
        this.read(name);
      } catch (error) {
        this.drop(name);
        if (!hasVanished(error)) trouble ??= error;
      }
    }
    this.write(writer);
    if (trouble !== null) throw trouble;
  }

  private read(name: string): void {
    let file = this.files.get(name);
    if (file === undefined) {
      file = openStats(this.tree, this.type.name, name);
      this.files.set(name, file);
    }
    const end = file.read();
    const superBlock = name.slice(-16);
    let values = this.values.get(superBlock);
    if (values === undefined) {
      values = new KeyValues(this.type.metrics.length);
      values.clear();
      this.values.set(superBlock, values);
    }
    const scanner = this.scanner.over(file.bytes, end);
    do {
      if (!scanner.word()) continue;
      const line = this.lines.find(scanner.bytes, scanner.from, scanner.to);
      if (line >= 0) this.line(values, this.sources[line]);
    } while (scanner.line());
  }

  /** The rest of a line: `COUNT samples [UNIT]`, or that and `MIN MAX SUM`, and sometimes the sum of squares. */
  private line(values: KeyValues, sources: readonly Source[]): void {
    const scanner = this.scanner;
    if (!scanner.word()) return;
    const { bytes, from, to } = scanner;
    const hasSum = scanner.wordAfter(BEFORE_SUM);
    for (const { key, wants } of sources) {
      if (wants === 'sum' && hasSum) values.add(key, bytes, scanner.from, scanner.to);
      else values.add(key, bytes, from, to);
    }
  }

  private write(writer: RawWriter): void {
    if (this.values.size === 0) return;
    const names = deviceNames(this.tree);
    const { name: type, metrics } = this.type;
    for (const [superBlock, values] of this.values) {
      writer.record(type, names.get(superBlock) ?? this.fileSystem(superBlock));
      values.write(writer, this.scanner.bytes);
      writer.endRecord(metrics.length);
    }
  }

  /** If no `lov` tells the name: the part before the first dash. */
  private fileSystem(superBlock: string): string {
    const name = [...this.files.keys()].find((client) => client.endsWith(superBlock)) ?? '-';
    return name.slice(0, name.search(/-(MDT|OST)[0-9a-f]{4}-|-[0-9a-f]{16}$/));
  }

  private drop(name: string): void {
    this.files.get(name)?.close();
    this.files.delete(name);
  }

  close(): void {
    for (const name of [...this.files.keys()]) this.drop(name);
  }
}

/** Names of the file systems by super block: the names of the clients' `lov` without it, such as `scratch-clilov`. */
function deviceNames(tree: NodeTree): Map<string, string> {
  const names = new Map<string, string>();
  const add = (lov: string) => {
    const [, name, superBlock] = SUPER_BLOCK.exec(lov) ?? [];
    if (superBlock !== undefined) names.set(superBlock, name);
  };
  for (const place of PLACES) {
    for (const lov of tree.list(`${place}/lov`) ?? []) add(lov);
    // `  1 UP lov scratch-clilov-ffff8102658ec800 5b 4`
    for (const line of (tree.text(`${place}/devices`) ?? '').split('\n')) {
      const [, , type, name] = line.trim().split(/\s+/);
      if (type === 'lov') add(name);
    }
  }
  return names;
}

/** Collects `stats` of the clients in the folder with the same name as the type. */
export function lustreStats(tree: NodeTree, type: NodeType): Collector {
  return new LustreStats(tree, type);
}
