/** Types whose records are answers of InfiniBand or Omni-Path ports: a device per active port, `ADAPTER/PORT`. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import type { Collector, NodeType } from '../types/type.ts';
import type { MadPort } from './mad.ts';
import { openMadPorts } from './mad-ports.ts';

/** Writes a port's values. @throws UnavailableError */
type PortReader = (writer: RawWriter) => void;

interface MadType extends Omit<NodeType, 'open' | 'program'> {
  /** The adapters that the type reads. */
  adapters(name: string): boolean;
  /** Prepares to read a port. @throws UnavailableError */
  reader(port: MadPort): PortReader;
}

/** Omni-Path's adapters have datagrams of another kind. */
export const isOmniPath = (adapter: string) => adapter.startsWith('hfi1_');

class PortCollector implements Collector {
  private readonly type: MadType;
  private readonly ports: readonly { port: MadPort; read: PortReader }[];

  constructor(type: MadType, ports: readonly { port: MadPort; read: PortReader }[]) {
    this.type = type;
    this.ports = ports;
  }

  collect(writer: RawWriter): void {
    let failed: unknown;
    for (const { port, read } of this.ports) {
      writer.record(this.type.name, `${port.adapter}/${port.port}`);
      try {
        read(writer);
        writer.endRecord(this.type.metrics.length);
      } catch (error) {
        // A port without a cable must not prevent the other ports' records.
        writer.dropRecord();
        failed ??= error;
      }
    }
    if (failed !== undefined) throw failed;
  }

  close(): void {
    for (const { port } of this.ports) port.close();
  }
}

export function madType(type: MadType): NodeType {
  const { adapters, reader, ...rest } = type;
  return {
    ...rest,
    open: (tree: NodeTree) => {
      const ready: { port: MadPort; read: PortReader }[] = [];
      let reason = '';
      for (const port of openMadPorts(tree, adapters)) {
        try {
          ready.push({ port, read: reader(port) });
        } catch (error) {
          port.close();
          if (!(error instanceof UnavailableError)) throw error;
          reason = error.message;
        }
      }
      if (ready.length === 0) throw new UnavailableError(reason);
      return new PortCollector(type, ready);
    },
  };
}

/** Writes value `k` of a row of big-endian 64-bit values. */
export function bigEndian(writer: RawWriter, words: Buffer, k: number): void {
  writer.words(words.readUInt32BE(8 * k), words.readUInt32BE(8 * k + 4));
}
