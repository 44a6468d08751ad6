/**
 * `nfs`: mounts of NFS 2 and 3. Keys as in tacc_stats up to 2.3.0, which skips fstype `nfs4`. Mounts of that are `nfs4`, with
 * that protocol's operations. The kernel makes the file from memory, so a server that hangs does not block it. Sources:
 * print_rpc_iostats and nfs_show_stats, net/sunrpc/stats.c and fs/nfs/super.c; nfs4_procedures, fs/nfs/nfs4xdr.c.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';
import { KeyTable, KeyValues } from './key-values.ts';
import {
  BYTES,
  EVENTS,
  nfsMetrics,
  OPERATIONS,
  OPERATIONS_4,
  PER_OPERATION,
  TRANSPORT,
} from './nfs-keys.ts';
import { Scanner } from './scan.ts';
import type { Collector, NodeType } from './type.ts';

const COLON = 0x3a;
/** Words of `device SERVER:/PATH mounted on /MOUNT with fstype nfs statvers=1.1` after `device`. */
const [MOUNT_POINT, FSTYPE, VERSION] = [4, 7, 8];
const FIRST_OF_BYTES = EVENTS.length;
const FIRST_OF_TRANSPORT = FIRST_OF_BYTES + BYTES.length;
const FIRST_OF_OPERATIONS = FIRST_OF_TRANSPORT + TRANSPORT.length;
/** Fields of a line `xprt:` between protocol and requests: ports, connections, idle time. */
const BEFORE_SENDS = { udp: 2, other: 5 };

class Nfs implements Collector {
  /** Name of the type, which is that of the file systems' type. */
  private readonly type: string;
  private readonly word: Buffer;
  private readonly file: KernelFile;
  /** The mount table of this machine, shared with other types; null for a recorded tree. */
  private readonly mounts: KernelFile | null;
  private readonly values: KeyValues;
  private readonly operations: KeyTable;
  private readonly scanner = new Scanner();
  /** Mount point of the record that is being collected; '' between records. */
  private mount = '';

  constructor(tree: NodeTree, type: string, operations: readonly string[]) {
    this.type = type;
    this.word = Buffer.from(` ${type} `);
    this.values = new KeyValues(nfsMetrics(operations).length);
    this.operations = new KeyTable(operations);
    this.file = tree.shared('proc/self/mountstats');
    this.mounts = tree.isThisMachine ? tree.shared('proc/mounts') : null;
  }

  /** Whether the type occurs in the first `end` bytes of a file's text. */
  private hasType({ bytes }: KernelFile, end: number): boolean {
    const at = bytes.indexOf(this.word);
    return at >= 0 && at < end;
  }

  collect(writer: RawWriter): void {
    // Most machines have no such mount.
    if (this.mounts !== null && !this.hasType(this.mounts, this.mounts.read())) return;
    const end = this.file.read();
    if (!this.hasType(this.file, end)) return;
    const scanner = this.scanner.over(this.file.bytes, end);
    this.mount = '';
    do {
      if (!scanner.word()) continue;
      const { bytes, from, to } = scanner;
      const isOperation = this.mount !== '' && bytes[to - 1] === COLON;
      if (isOperation) this.line(scanner.text(from, to - 1));
      else if (scanner.text() === 'device') this.device(writer);
    } while (scanner.line());
    this.end(writer);
  }

  private device(writer: RawWriter): void {
    this.end(writer);
    const scanner = this.scanner;
    let mount = '';
    for (let k = 1; scanner.word(); k++) {
      if (k === MOUNT_POINT) mount = scanner.text();
      else if (k === FSTYPE && scanner.text() !== this.type) return;
      else if (k === VERSION && /^statvers=1\.[01]$/.test(scanner.text())) this.mount = mount;
    }
    this.values.clear();
  }

  private line(name: string): void {
    if (name === 'events') this.numbers(0, EVENTS.length);
    else if (name === 'bytes') this.numbers(FIRST_OF_BYTES, BYTES.length);
    else if (name === 'xprt') this.transport();
    else {
      const bytes = this.scanner.bytes;
      const k = this.operations.find(bytes, this.scanner.from, this.scanner.to - 1);
      if (k >= 0) this.numbers(FIRST_OF_OPERATIONS + k * PER_OPERATION, PER_OPERATION);
    }
  }

  private numbers(first: number, count: number): void {
    const scanner = this.scanner;
    for (let k = first; k < first + count && scanner.word(); k++) {
      this.values.set(k, scanner.bytes, scanner.from, scanner.to);
    }
  }

  /** A mount can have several connections (nconnect): their numbers are summed. */
  private transport(): void {
    const scanner = this.scanner;
    if (!scanner.word()) return;
    const isUdp = scanner.text() === 'udp';
    let skip = isUdp ? BEFORE_SENDS.udp : BEFORE_SENDS.other;
    while (skip > 0 && scanner.word()) skip--;
    for (let k = 0; k < TRANSPORT.length && scanner.word(); k++) {
      this.values.add(FIRST_OF_TRANSPORT + k, scanner.bytes, scanner.from, scanner.to);
    }
  }

  private end(writer: RawWriter): void {
    if (this.mount === '') return;
    writer.record(this.type, this.mount);
    this.values.write(writer, this.scanner.bytes);
    writer.endRecord(this.values.length);
    this.mount = '';
  }

  /** The tree closes what it shares. */
  close(): void {}
}

const nfsType = (name: string, device: string, operations: readonly string[]): NodeType => ({
  name,
  help: `traffic of ${name === 'nfs' ? 'NFS' : 'NFS 4'} mounts`,
  device,
  source: '/proc/self/mountstats',
  metrics: nfsMetrics(operations),
  open: (tree) => new Nfs(tree, name, operations),
});

export const NFS = nfsType('nfs', 'mount point of NFS 2 or 3', OPERATIONS);
export const NFS4 = nfsType('nfs4', 'mount point of NFS 4', OPERATIONS_4);
