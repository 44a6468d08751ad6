/**
 * Texts of files, names and messages are data: on a terminal they steer nothing. What would (escape sequences of 7 and 8
 * bits, other control characters, marks that turn the direction of writing) is shown as `\x1b`. This is done in one place,
 * where text leaves the process: all that is written passes `guardTerminals`, except sequences that we wrote ourselves,
 * which stand between two keys that nobody else knows.
 */

/** All but tab and newline; and of Unicode what ends lines, or turns the direction of what follows. */
const STEERING = /[^\P{Cc}\t\n]|[\p{Bidi_Control}\u2028\u2029]/gu;
const BREAKING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A character as `\x1b` or `\u{202e}`. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}

/** Text of several lines, for a terminal. */
export const harmless = (text: string): string => text.replace(STEERING, escaped);

/** Text in one line, such as a name in a table: line breaks and tabs are shown too. */
export const oneLine = (text: string): string => text.replace(BREAKING, escaped);

/** Random where terminals are guarded. */
let key = '';

/** A sequence of ours, which may steer the terminal. */
export const steering = (sequence: string): string => `${key}${sequence}${key}`;

/** Text for a terminal: harmless except for our own sequences. */
export function guarded(text: string): string {
  if (key === '') return text;
  return text
    .split(key)
    .map((part, k) => (k % 2 === 0 ? harmless(part) : part))
    .join('');
}

type Write = NodeJS.WriteStream['write'];

function guard(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) =>
    write(
      guarded(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()),
      ...rest,
    )) as Write;
}

/**
 * From here on what this process writes steers no terminal: stderr always, which nobody parses, and stdout where it is a
 * terminal; what is piped stays as it is.
 */
export function guardTerminals(): void {
  if (key !== '') return;
  // Made now, so that nothing written earlier can contain it.
  key = `${Math.random()}${Math.random()}`;
  guard(process.stderr);
  if (process.stdout.isTTY === true) guard(process.stdout);
}
