/**
 * Entry of `child-reader.ts`'s child process: collects on request, however long that blocks.
 */
import { readSync, writeSync } from 'node:fs';
import { RawWriter } from '../../formats/tacc/writer.ts';
import { NodeTree } from '../tree.ts';
import {
  ANSWERS,
  type ChildTask,
  DONE,
  HEADER_BYTES,
  HEADER_WORDS,
  LENGTH,
  REQUEST,
  type ToldKeys,
  WAITS,
} from './child-protocol.ts';
import { NODE_TYPES } from './index.ts';
import type { Collector, NodeType } from './type.ts';

const INPUT = 0;

interface Reader {
  readonly type: NodeType;
  /** Opened at the first request, because opening may block too. */
  collector: Collector | null;
}

function writeAll(bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(ANSWERS, bytes, done, bytes.length - done, position + done);
  }
}

/** Opens the types. */
function keysOf(readers: readonly Reader[], tree: NodeTree): ToldKeys {
  const told: Record<string, readonly string[] | string> = {};
  for (const reader of readers) {
    const { type } = reader;
    try {
      reader.collector = type.open(tree);
      told[type.name] = (reader.collector.metrics ?? type.metrics).map(({ key }) => key);
    } catch (error) {
      told[type.name] = (error as Error).message;
    }
  }
  return told;
}

function main({ types, root, tells, keys }: ChildTask): void {
  const tree = new NodeTree(root, { waits: true });
  const header = new Uint32Array(HEADER_WORDS);
  let readers: Reader[] = types.map((name) => {
    const type = NODE_TYPES.find((candidate) => candidate.name === name);
    if (type === undefined) throw new Error(`no type ${name}`);
    return { type, collector: null };
  });
  let records: Uint8Array = new Uint8Array();
  const sink = (bytes: Uint8Array) => {
    records = bytes.slice();
  };
  const writer = new RawWriter({ hostname: '', uname: '', uptime: 0, schemas: [] }, sink);

  const publish = (length: number, done: number, waits: boolean) => {
    header[LENGTH] = length;
    header[DONE] = done;
    header[WAITS] = waits ? 1 : 0;
    writeAll(new Uint8Array(header.buffer), 0);
  };
  /** Returns what went wrong; '' if nothing did. */
  const collect = (reader: Reader): string => {
    records = new Uint8Array();
    try {
      reader.collector ??= reader.type.open(tree, keys[reader.type.name]);
      reader.collector.collect(writer);
    } catch (error) {
      writer.dropRecord();
      return error instanceof Error ? error.message : String(error);
    } finally {
      writer.flush();
    }
    return '';
  };
  const answer = (request: number) => {
    header[REQUEST] = request;
    publish(0, 0, false);
    tree.begin();
    let used = 0;
    readers.forEach((reader, k) => {
      const failure = Buffer.from(collect(reader));
      const lengths = Buffer.alloc(8);
      lengths.writeUInt32LE(records.length);
      lengths.writeUInt32LE(failure.length, 4);
      const part = Buffer.concat([lengths, records, failure]);
      writeAll(part, HEADER_BYTES + used);
      used += part.length;
      publish(used, k + 1, k + 1 === readers.length);
    });
  };

  if (tells) {
    const told = keysOf(readers, tree);
    const text = Buffer.from(JSON.stringify(told));
    writeAll(text, HEADER_BYTES);
    readers = readers.filter(({ collector }) => collector !== null);
    publish(text.length, 0, true);
  } else publish(0, 0, true);
  const input = Buffer.alloc(4096);
  for (;;) {
    const got = readSync(INPUT, input, 0, input.length, null);
    if (got === 0) return;
    const last = input.toString('latin1', 0, got).trim().split('\n').at(-1);
    answer(Number(last));
  }
}

main(JSON.parse(process.argv[2]) as ChildTask);
