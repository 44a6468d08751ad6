/** Text of a file in a message: what moves a terminal's cursor, or ends the line, is shown by its number. */

/** Controls but tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

/** `text` as one line that can be shown: `\x1b` stands for an escape. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
