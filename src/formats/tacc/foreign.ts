/** Files in an archive's folder that belong to another host: their records would be taken for the folder's host. */
import { basename, dirname } from 'node:path';
import { shortHost } from './header-watch.ts';

/** Names of files in a folder that is named after its host. */
const IN_ARCHIVE = /^(\d{8,11}(\.gz)?|current)$/;

/** Without their numbers, `c401-101` and `c402-3` are alike: hosts of one cluster. */
const shapeOf = (name: string): string => shortHost(name).replace(/\d+/g, '#').toLowerCase();
const domainOf = (name: string): string => /\.(.+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** Whether a folder can belong to another host of the same cluster; folders such as `log1` cannot. */
function isHostLike(folder: string, hostname: string): boolean {
  const domain = domainOf(hostname);
  if (domain !== '' && domainOf(folder) === domain) return true;
  return /[a-z]/i.test(folder) && shapeOf(folder) === shapeOf(hostname);
}

/**
 * The host in whose folder the file `path` is, if `$hostname` is another; null if they agree or the folder belongs to
 * no archive. Hosts are compared by their first label, because domains may or may not be written.
 * @example
 * ```ts
 * import { foreignFolder } from 'triscope/formats/tacc';
 *
 * foreignFolder('archive/c401-101.example.org/1795226192', 'c401-101'); // null: the same host
 * ```
 */
export function foreignFolder(path: string, hostname: string | undefined): string | null {
  if (hostname === undefined || !IN_ARCHIVE.test(basename(path))) return null;
  const folder = basename(dirname(path));
  const isForeign = isHostLike(folder, hostname) && shortHost(folder) !== shortHost(hostname);
  return isForeign ? folder : null;
}
