/** Files in an archive's folder that are about another host: its records would be taken for that host's. */
import { basename, dirname } from 'node:path';
import { shortHost } from './header-watch.ts';

/** Names of files in a folder that is named as its host. */
const IN_ARCHIVE = /^(\d{8,11}(\.gz)?|current)$/;

/** Whether a folder's name can be a host's: it has a letter, and a digit or a dot unless it is the host's own name. */
const isHostName = (name: string): boolean => /[a-z]/i.test(name) && /[\d.]/.test(name);

/**
 * The host whose folder the file `path` lies in, where `$hostname` says another; null where they agree or the folder is
 * none of an archive. Hosts are compared by their first label: domains were written or not.
 */
export function foreignFolder(path: string, hostname: string | undefined): string | null {
  if (hostname === undefined || !IN_ARCHIVE.test(basename(path))) return null;
  const folder = basename(dirname(path));
  return isHostName(folder) && shortHost(folder) !== shortHost(hostname) ? folder : null;
}
