/** Text as YAML 1.1 and 1.2 both read it back: plain where that is safe, in double quotes otherwise. */

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Controls, line ends of Unicode, the byte order mark, and what is no character: all that YAML does not print. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /["\\\u0000-\u001f\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** `text` in double quotes. Half a surrogate pair becomes U+FFFD, as in UTF-8. */
export function quoted(text: string): string {
  const safe = text.replace(UNSAFE, (found) => {
    const short = SHORT[found];
    if (short !== undefined) return short;
    const code = found.charCodeAt(0);
    if (code >= 0xd800 && code < 0xe000) return '\ufffd';
    // JSON has this form too.
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${safe}"`;
}

/** Words that some YAML reader takes for something else. */
const TAKEN = /^(y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** `text` without quotes where it is a plain word that begins with a letter; quoted otherwise. */
export function plain(text: string): string {
  return /^[A-Za-z][\w.@/-]*$/.test(text) && !TAKEN.test(text) ? text : quoted(text);
}
