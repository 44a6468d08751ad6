/**
 * How a collector and its child process talk. Requests are lines with a number, on the child's standard input; its end
 * ends the child. Answers lie in a nameless file that both have open, as the collector cannot wait for a pipe with a
 * deadline:
 *
 *     0   u32  number of the request that the rest is about; 0: the child is ready
 *     4   u32  bytes of the body that are valid
 *     8   u32  types that are done
 *     12  u32  1 when the child waits for the next request
 * Of types whose keys depend on the machine, the body of request 0 is JSON: by type its keys, or why it is not there.
 *
 *     16  body: of each type that is done a u32 with the length of its records, a u32 with that of its failure, then both
 */

/** The descriptor of the answers in the child. */
export const ANSWERS = 3;
export const HEADER_BYTES = 16;
export const HEADER_WORDS = HEADER_BYTES / 4;
export const [REQUEST, LENGTH, DONE, WAITS] = [0, 1, 2, 3];

/** Told to the child as its first argument, in JSON. */
export interface ChildTask {
  readonly types: readonly string[];
  readonly root: string;
  /** Whether to tell which keys the types have, before the first request. */
  readonly tells: boolean;
  /** By type, the keys that another child has told before. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

/** Of a type: its keys, or why it is not there. */
export type ToldKeys = Readonly<Record<string, readonly string[] | string>>;
