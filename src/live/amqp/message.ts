/**
 * Checks a message before it is filed. Anybody who may publish can send anything: a message that cannot be filed as a
 * group of a host, or would make later ones look like repeats, is refused here, before a file is touched.
 */

/** A message that cannot be filed. */
export class RejectedMessageError extends Error {
  override readonly name = 'RejectedMessageError';
}

/** How a message is numbered by who sent it. */
export interface Stamp {
  readonly producer: string;
  readonly number: number;
}

/** Bytes of the largest message; a sample of a large node has some 100,000. */
const LONGEST_BYTES = 64 << 20;
/** Digits of a second since 1970: until the year 5138. */
const SECOND_DIGITS = 11;
/** Maximum step from the last number to the next: samples for which a spool had no room have numbers, too. */
const LEAP = 1e9;
/** No name of a folder of the archive's own, and room for what is added to it. */
const HOST = /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/;
const PRODUCER = /^[\w.-]{1,128}$/;

const decoder = new TextDecoder('utf-8', { fatal: true });

interface MessageFacts {
  readonly host: string;
  /** Of its first group; null where it has none. */
  readonly second: number | null;
  readonly header: boolean;
}

/** Facts in a message's text: raw stats of either era. @throws RejectedMessageError */
export function factsIn(message: Uint8Array): MessageFacts {
  if (message.length > LONGEST_BYTES)
    throw new RejectedMessageError(`it has ${message.length} bytes`);
  let text: string;
  try {
    text = decoder.decode(message);
  } catch {
    throw new RejectedMessageError('it is not UTF-8');
  }
  if (text.includes('\0')) throw new RejectedMessageError('it has a NUL');
  const header = text.startsWith('$');
  const named = header ? /^\$hostname (\S+)$/m.exec(text) : null;
  const group = /^(\d+)(?:\.\d+)?(?: +(\S+))?(?: +(\S+))?\s*$/m.exec(text);
  const host = named?.[1] ?? group?.[3];
  if (host === undefined) throw new RejectedMessageError('it does not name its host');
  if (!HOST.test(host)) {
    throw new RejectedMessageError(`${JSON.stringify(host)} is not a host name`);
  }
  if (group !== null && group[1].length > SECOND_DIGITS) {
    throw new RejectedMessageError(
      `${group[1].slice(0, 40)} is not a number of seconds since 1970`,
    );
  }
  return { host, header, second: group === null ? null : Number(group[1]) };
}

/** The number in the headers of a message; null without one. @throws RejectedMessageError for an invalid one */
export function stampFrom(producer: unknown, number: unknown): Stamp | null {
  if (producer === undefined && number === undefined) return null;
  if (typeof producer !== 'string' || !PRODUCER.test(producer)) {
    throw new RejectedMessageError('its producer is not a name');
  }
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) {
    throw new RejectedMessageError(`its number is ${String(number).slice(0, 40)}`);
  }
  return { producer, number };
}

/** @param last number of this producer's that is filed, 0 for none. @throws RejectedMessageError */
export function checkLeap({ number }: Stamp, last: number): void {
  if (number <= last + LEAP) return;
  throw new RejectedMessageError(`its number is ${number}, and the last one was ${last}`);
}
