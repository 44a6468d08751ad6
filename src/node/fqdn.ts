/** Finds a host's full name. */
import type { NodeTree } from './tree.ts';

/** Milliseconds to wait for each name server; number of domains to try. An unreachable name server must not hold a node up for long. */
const SERVER_WAIT_MS = 1000;
const DOMAINS = 3;

/**
 * The full name in the text of an `/etc/hosts`; null if it has none.
 * @example
 * ```ts
 * import { fullNameIn } from 'triscope/node';
 *
 * fullNameIn('10.0.0.7 c401-101.example.org c401-101\n', 'c401-101'); // 'c401-101.example.org'
 * ```
 */
export function fullNameIn(hosts: string, host: string): string | null {
  for (const line of hosts.split('\n')) {
    const [, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!names.includes(host)) continue;
    const full = names.find((name) => name.startsWith(`${host}.`));
    if (full !== undefined) return full;
  }
  return null;
}

/**
 * Search domains in the text of an `/etc/resolv.conf`. Source: resolv.conf(5).
 * @example
 * ```ts
 * import { domainsIn } from 'triscope/node';
 *
 * domainsIn('search example.org\nnameserver 10.0.0.1\n'); // ['example.org']
 * ```
 */
export function domainsIn(resolvConf: string): string[] {
  const line = resolvConf.match(/^\s*(?:search|domain)\s+(.*)$/gm)?.at(-1) ?? '';
  return line
    .trim()
    .split(/\s+/)
    .slice(1, DOMAINS + 1);
}

/**
 * The host's name with its domain, from the hosts file or, on this machine, from a name server; otherwise the name unchanged.
 * @example
 * ```ts
 * import { fullHostname, NodeTree } from 'triscope/node';
 *
 * const tree = new NodeTree();
 * const name = await fullHostname(tree); // such as c401-101.example.org
 * tree.close();
 * ```
 */
export async function fullHostname(tree: NodeTree): Promise<string> {
  const host = tree.hostname();
  if (host.includes('.')) return host;
  const known = fullNameIn(tree.text('etc/hosts') ?? '', host);
  if (known !== null || !tree.isThisMachine) return known ?? host;
  const domains = domainsIn(tree.text('etc/resolv.conf') ?? '');
  if (domains.length === 0) return host;
  // Rarely needed, and slow to load.
  const { Resolver } = process.getBuiltinModule('node:dns').promises;
  for (const domain of domains) {
    const name = `${host}.${domain.replace(/\.$/, '')}`;
    const resolver = new Resolver({ timeout: SERVER_WAIT_MS, tries: 1 });
    const found = await Promise.any([resolver.resolve4(name), resolver.resolve6(name)]).catch(
      () => [],
    );
    if (found.length > 0) return name;
  }
  return host;
}
