/** The messages that handlers fill: objects used in turn, each closed by the next `send`. */
import type { StructLayout, StructOf } from '../model/struct.ts';
import { type Flyweight, type Memory, structClass } from '../model/struct-class.ts';
import { PAYLOAD } from './layout.ts';

type AnyFields = Readonly<Record<string, never>>;

/** A message that is being sent; links to the object for the next one. */
export type Sending = StructOf<AnyFields> & Flyweight & { $next: Sending };

/**
 * A handler that writes to a message after its next `send` gets an error, unless exactly this many messages, or a multiple, have
 * been sent since. rollback-check finds those too.
 */
const TURNS = 8;

/** Makes an object for a message in `memory`, closed until it is moved to its event. */
export function sendingClass(of: StructLayout): new (memory: Memory, log: null) => Sending {
  return structClass<AnyFields>(of, 'sent', PAYLOAD * 8) as unknown as new (
    memory: Memory,
    log: null,
  ) => Sending;
}

/** Makes a ring of objects for messages; returns the first. @param memory the event pool's */
export function sendingRing(of: StructLayout, memory: Memory): Sending {
  const Message = sendingClass(of);
  const ring = Array.from({ length: TURNS }, () => new Message(memory, null));
  for (const [k, one] of ring.entries()) one.$next = ring[(k + 1) % TURNS];
  return ring[0];
}
