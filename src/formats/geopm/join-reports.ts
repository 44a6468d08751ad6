/** Reports of single hosts as one report of all. */

const HOSTS = '\nHosts:\n';

/**
 * Joins reports as `reportText` writes them, each of some hosts: the head is the first one's.
 * @throws Error where one of them is no such report
 */
export function joinReports(texts: readonly string[]): string {
  const parts = texts.map((text) => {
    const at = text.indexOf(HOSTS);
    if (at < 0) throw new Error('a report without hosts');
    return { head: text.slice(0, at), hosts: text.slice(at + HOSTS.length).trimEnd() };
  });
  return `${parts[0]?.head ?? ''}${HOSTS}${parts.map(({ hosts }) => `${hosts}\n`).join('')}\n`;
}
