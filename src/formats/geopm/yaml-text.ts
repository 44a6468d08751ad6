/** Text in a form that YAML 1.1 and 1.2 both read back unchanged: plain where that is safe, in double quotes otherwise. */

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Characters that YAML does not print: control characters, Unicode's line ends, the byte order mark and non-characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /["\\\u0000-\u001f\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** `text` in double quotes. Half of a surrogate pair becomes U+FFFD, as in UTF-8. */
export function quoted(text: string): string {
  const safe = text.replace(UNSAFE, (found) => {
    const short = SHORT[found];
    if (short !== undefined) return short;
    const code = found.charCodeAt(0);
    if (code >= 0xd800 && code < 0xe000) return '\ufffd';
    // This form is also valid JSON.
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${safe}"`;
}

/** Words that some YAML readers take for something other than text. */
const TAKEN = /^(y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** `text` without quotes if it is a plain word that begins with a letter; quoted otherwise. */
export function plain(text: string): string {
  return /^[A-Za-z][\w.@/-]*$/.test(text) && !TAKEN.test(text) ? text : quoted(text);
}
