/** Text in HTML, SVG and XML. */

/** Text that is safe anywhere in HTML and XML. Control characters, which XML does not allow, become spaces. */
export const escapeText = (text: string): string =>
  text
    .replace(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
