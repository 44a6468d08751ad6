/** Control register → event. */
export type EventNames = ReadonlyMap<bigint, string>;
