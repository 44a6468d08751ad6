/** Files in an archive's folder that are about another host: its records would be taken for that host's. */
import { basename, dirname } from 'node:path';
import { shortHost } from './header-watch.ts';

/** Names of files in a folder that is named as its host. */
const IN_ARCHIVE = /^(\d{8,11}(\.gz)?|current)$/;

/** Numbers of names apart, `c401-101` and `c402-3` are alike: hosts of one cluster. */
const shapeOf = (name: string): string => shortHost(name).replace(/\d+/g, '#').toLowerCase();
const domainOf = (name: string): string => /\.(.+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** Whether a folder can be that of another host of the same cluster: folders such as `log1` are none. */
function isHostLike(folder: string, hostname: string): boolean {
  const domain = domainOf(hostname);
  if (domain !== '' && domainOf(folder) === domain) return true;
  return /[a-z]/i.test(folder) && shapeOf(folder) === shapeOf(hostname);
}

/**
 * The host whose folder the file `path` lies in, where `$hostname` says another; null where they agree or the folder is
 * none of an archive. Hosts are compared by their first label: domains were written or not.
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
