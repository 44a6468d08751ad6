/**
 * How a collector and its child process communicate. Requests are lines with a number on the child's standard input; end of input
 * ends the child. Answers are in a nameless file that both have open, because the collector cannot wait for a pipe with a
 * deadline:
 *
 *     0   u32  number of the request to which the rest belongs; 0: the child is ready
 *     4   u32  bytes of the body that are valid
 *     8   u32  number of types that are done
 *     12  u32  1 when the child waits for the next request
 * For types whose keys depend on the machine, the body of request 0 is JSON: for each type its keys, or why it is missing.
 *
 *     16  body: for each type that is done a u32 with the length of its records, a u32 with that of its error, then both
 */

/** The child's descriptor of the answers' file. */
export const ANSWERS = 3;
export const HEADER_BYTES = 16;
export const HEADER_WORDS = HEADER_BYTES / 4;
export const [REQUEST, LENGTH, DONE, WAITS] = [0, 1, 2, 3];

/** Passed to the child as its first argument, as JSON. */
export interface ChildTask {
  readonly types: readonly string[];
  readonly root: string;
  /** Whether to tell which keys the types have, before the first request. */
  readonly tells: boolean;
  /** The keys of each type, if another child has told them before. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

/** A type's keys, or why the type is missing. */
export type ToldKeys = Readonly<Record<string, readonly string[] | string>>;
