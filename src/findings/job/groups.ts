/** Record groups of raw stats files, in the order of the file. */
import { FormatError } from '../../formats/format.ts';
import type { RawRows } from '../../formats/part.ts';
import {
  MARK_SCHEMA,
  type RawTable,
  type ReadRawOptions,
  readRaw,
} from '../../formats/tacc/index.ts';
import { shortName } from './host-list.ts';

/** The line number of a group's first line. */
export interface RecordGroup {
  /** Seconds since 1970. */
  readonly seconds: number;
  readonly host: string;
  readonly jobIds: readonly string[];
  /** When the host was started, in seconds since 1970; NaN if that is not known. */
  readonly boot: number;
  readonly line: number;
  /** Whether its collector archives energies in mJ instead of as counted. */
  readonly scaledEnergy: boolean;
}

/** Reads a host's groups and their marks. */
export abstract class GroupReader {
  readonly host: string;
  /** Marks of the current group. */
  protected marks: string[] = [];

  constructor(host: string) {
    this.host = host;
  }

  protected abstract group(group: RecordGroup): void;
  /** Called for each record of the group; its values are `part.values`. */
  protected record?(part: RawTable, device: string): void;
  /** Called when the group's marks and records are complete: at the next group, and at the file's end. */
  abstract endGroup(): void;

  private take(part: RawTable, { columns }: RawRows): void {
    const label = (column: number) => part.labels[column]?.[columns[column][0] as number] ?? '';
    if (part.type !== null) this.record?.(part, label(3));
    else if (part.schema === MARK_SCHEMA) this.marks.push(label(3));
    else {
      this.endGroup();
      this.marks = [];
      const [seconds, , , boot, line] = columns.map(([cell]) => Number(cell));
      const { scaledEnergy } = part.raw;
      const jobIds = label(2).split(',');
      this.group({ seconds, host: label(1), jobIds, boot, line, scaledEnergy });
    }
  }

  /** Whether the group is from another host. */
  protected isForeign({ host }: RecordGroup): boolean {
    return host !== '' && host !== '-' && shortName(host) !== shortName(this.host);
  }

  /** Reads a file. Returns its number of lines, and why it could not be read to its end; null if it could. */
  protected async readFile(path: string, options: ReadRawOptions) {
    let lines = 0;
    let problem: string | null = null;
    try {
      ({ lines } = await readRaw(path, (part, rows) => this.take(part, rows), options));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      problem = error.message;
    }
    this.endGroup();
    return { lines, problem };
  }
}
