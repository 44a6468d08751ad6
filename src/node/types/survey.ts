/** What a machine has of a type: whether it is there, how many devices, and what a collection of it costs. */
import { type RawSchema, rawSchemaOf } from '../../formats/tacc/schema.ts';
import { RawWriter } from '../../formats/tacc/writer.ts';
import { NodeTree } from '../tree.ts';
import { OpenTypes } from './open-types.ts';
import type { NodeType } from './type.ts';

const NEWLINE = 0x0a;
/** Collections that warm up, and collections that are measured. */
const [WARM_UP, MEASURED] = [3, 9];

/** What a type is on this machine: its schema, devices, what it lacks, and microseconds that one sample of it takes. */
export interface TypeFacts {
  /** The type as it is declared. */
  readonly type: NodeType;
  /** As this machine has it. */
  readonly schema: RawSchema;
  /** Why there are no records; null where there are, or may be. */
  readonly missing: string | null;
  /** What went wrong in a collection; null where nothing did. */
  readonly failed: string | null;
  /** Number of records of the last collection. */
  readonly devices: number;
  /** Median time of a collection in microseconds; null where there was none. */
  readonly microseconds: number | null;
}

/**
 * Opens a type and collects it several times. `root`: the folder that `proc` and `sys` lie in.
 * @example
 * ```ts
 * import { NODE_TYPES, surveyType } from 'triscope/node';
 *
 * for (const type of NODE_TYPES) {
 *   const { devices, microseconds, missing } = surveyType(type, undefined);
 *   console.log(type.name, missing ?? `${devices} devices, ${microseconds} µs`);
 * }
 * ```
 */
export function surveyType(type: NodeType, root: string | undefined): TypeFacts {
  const types = new OpenTypes([type], new NodeTree(root));
  const nothing = { type, failed: null, devices: 0, microseconds: null };
  if (types.absent.length > 0) {
    const schema = rawSchemaOf(type.name, type.metrics);
    return { ...nothing, schema, missing: types.absent[0].reason };
  }
  let devices = 0;
  let failed: string | null = null;
  const count = (bytes: Uint8Array) => {
    devices = 0;
    for (const byte of bytes) if (byte === NEWLINE) devices++;
  };
  const writer = new RawWriter({ hostname: '-', uname: '', uptime: 0, schemas: [] }, count);
  const times: number[] = [];
  try {
    for (let k = 0; k < WARM_UP + MEASURED && failed === null; k++) {
      const before = performance.now();
      types.collect(writer, ({ reason }) => {
        failed = reason;
      });
      times.push(performance.now() - before);
      devices = 0;
      writer.flush();
    }
  } finally {
    types.close();
  }
  const measured = times.slice(-MEASURED).sort((a, b) => a - b);
  const microseconds = 1000 * measured[Math.floor(measured.length / 2)];
  const [schema] = types.schemas();
  return { type, schema, missing: null, failed, devices, microseconds };
}
