/** Joins reports of single hosts into one report of all hosts. */

const HOSTS = '\nHosts:\n';

/**
 * Joins reports that `reportText` wrote, each of one or more hosts. The result has the head of the first one.
 * @throws Error if one of them is no such report
 */
export function joinReports(texts: readonly string[]): string {
  const parts = texts.map((text) => {
    const at = text.indexOf(HOSTS);
    if (at < 0) throw new Error('a report without hosts');
    return { head: text.slice(0, at), hosts: text.slice(at + HOSTS.length).trimEnd() };
  });
  return `${parts[0]?.head ?? ''}${HOSTS}${parts.map(({ hosts }) => `${hosts}\n`).join('')}\n`;
}
