/**
 * /proc/net/dev has the counters of all interfaces in one text; /sys has a file for each counter. The kernel takes both from the
 * same numbers, but the table has sums of some. For these see dev_seq_printf_stats() in net/core/net-procfs.c.
 *
 *     Inter-|   Receive                                                |  Transmit
 *      face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
 *       eth0: 3723429787  102755    0    0    0     0          0         0  7275387   65101    0    0    0     0       0          0
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';
import { isNumber, Scanner } from './scan.ts';

const HEADING =
  /^.*\n face \|bytes +packets errs drop fifo frame compressed multicast\|bytes +packets errs drop fifo colls carrier compressed\n/;
const ZERO = 0x30;
/** Names of modules that appear beside interfaces. */
const NO_INTERFACE = 'bonding_masters';

/** Columns of the table, by the numbers of an interface that they hold: one, or the sum of several. */
const COLUMNS: readonly (readonly string[])[] = [
  ['rx_bytes'],
  ['rx_packets'],
  ['rx_errors'],
  ['rx_dropped', 'rx_missed_errors'],
  ['rx_fifo_errors'],
  ['rx_length_errors', 'rx_over_errors', 'rx_crc_errors', 'rx_frame_errors'],
  ['rx_compressed'],
  ['multicast'],
  ['tx_bytes'],
  ['tx_packets'],
  ['tx_errors'],
  ['tx_dropped'],
  ['tx_fifo_errors'],
  ['collisions'],
  ['tx_carrier_errors', 'tx_aborted_errors', 'tx_window_errors', 'tx_heartbeat_errors'],
  ['tx_compressed'],
];

/** Where the table has a number of an interface. */
interface NetPlace {
  readonly column: number;
  /** Whether the column sums it with others. */
  readonly isSum: boolean;
}

/** @throws Error if it has no such number */
export function netPlace(key: string): NetPlace {
  const column = COLUMNS.findIndex((keys) => keys.includes(key));
  if (column < 0) throw new Error(`/proc/net/dev has no ${key}`);
  return { column, isSum: COLUMNS[column].length > 1 };
}

export class NetTable {
  private readonly file: KernelFile;
  private readonly scanner = new Scanner();
  /** `  eth0:`, by row. */
  private names: readonly Buffer[] = [];
  /** Each interface's row in the table. */
  private rows = new Map<string, number>();
  /** Where the values are in the file's text, 16 per row. */
  private from = new Int32Array(0);
  private to = new Int32Array(0);
  /** Length of the heading. */
  private heading = -1;
  /** The list with which the names were compared. */
  private listed: readonly string[] | null = null;
  /** Whether it has the same interfaces as /sys. */
  isUsable = false;

  private constructor(file: KernelFile) {
    this.file = file;
  }

  /** Null if there is no such table, or it has another form. */
  static of(tree: NodeTree): NetTable | null {
    // In a recorded tree the table may be of another moment than the files.
    if (!tree.isThisMachine) return null;
    try {
      const file = tree.shared('proc/net/dev');
      const end = file.read();
      const heading = HEADING.exec(file.bytes.toString('latin1', 0, Math.min(end, 1024)));
      if (heading === null) return null;
      const table = new NetTable(file);
      table.heading = heading[0].length;
      return table;
    } catch {
      return null;
    }
  }

  /**
   * Reads it, if it has not been read in this collection. It can be used if it has the interfaces in `listed`: in a
   * container, /sys can be the machine's.
   */
  read(listed: readonly string[]): void {
    const end = this.file.read();
    const moved = !this.find(end);
    if (moved) this.renew(end);
    if (moved || listed !== this.listed) {
      this.listed = listed;
      const interfaces = listed.filter((name) => name !== NO_INTERFACE);
      this.isUsable =
        interfaces.length === this.rows.size && interfaces.every((name) => this.rows.has(name));
    }
  }

  /** Notes which interfaces there are. */
  private renew(end: number): void {
    const rows = this.file.bytes.toString('utf8', this.heading, end).split('\n').slice(0, -1);
    const names = rows.map((row) => row.slice(0, row.lastIndexOf(':')));
    this.rows = new Map(names.map((name, k) => [name.trim(), k]));
    this.names = names.map((name) => Buffer.from(`${name}:`));
    this.from = new Int32Array(rows.length * COLUMNS.length);
    this.to = new Int32Array(rows.length * COLUMNS.length);
    if (!this.find(end)) this.rows.clear();
  }

  /** Notes where the values are. False if the interfaces have changed. */
  private find(end: number): boolean {
    const { bytes } = this.file;
    let at = this.heading;
    let value = 0;
    for (const name of this.names) {
      for (let k = 0; k < name.length; k++) if (bytes[at + k] !== name[k]) return false;
      const scanner = this.scanner.over(bytes, end, at + name.length);
      for (let column = 0; column < COLUMNS.length; column++, value++) {
        if (!scanner.word() || !isNumber(bytes, scanner.from, scanner.to)) return false;
        this.from[value] = scanner.from;
        this.to[value] = scanner.to;
      }
      at = scanner.to + 1;
    }
    return at === end;
  }

  /** The interface's row; -1 if it has none. */
  row(name: string): number {
    return this.rows.get(name) ?? -1;
  }

  /**
   * Adds a value of a row: the number `key`. False if the column is a sum other than 0, whose parts are unknown.
   */
  write(writer: RawWriter, row: number, place: NetPlace): boolean {
    const value = row * COLUMNS.length + place.column;
    const { bytes } = this.file;
    const from = this.from[value];
    const to = this.to[value];
    if (place.isSum && !(to - from === 1 && bytes[from] === ZERO)) return false;
    writer.digits(bytes, from, to);
    return true;
  }

  /** Values of a row, read again; null if the interfaces have changed. */
  values(name: string, places: readonly NetPlace[]): readonly bigint[] | null {
    this.file.forgetText();
    const end = this.file.read();
    const row = this.row(name);
    if (row < 0 || !this.find(end)) return null;
    return places.map(({ column }) => {
      const value = row * COLUMNS.length + column;
      return BigInt(this.file.bytes.toString('latin1', this.from[value], this.to[value]));
    });
  }
}
