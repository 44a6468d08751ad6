/**
 * Whose processes are collected: not those of root, of services, or of users unknown to the machine. The names of services
 * are those that tacc_stats leaves out.
 */
import type { NodeTree } from '../tree.ts';

const SERVICES = new Set(['postfix', 'rpc', 'rpcuser', 'dbus', 'daemon', 'ntp']);
/** User databases whose contents are in files of this machine. */
const LOCAL = new Set(['files', 'compat', 'systemd']);

/** Whether users are also looked up elsewhere, such as in a cluster's directory: /etc/nsswitch.conf. */
function hasDirectory(tree: NodeTree): boolean {
  const [, databases] = /^passwd:(.*)$/m.exec(tree.text('etc/nsswitch.conf') ?? '') ?? [];
  const names = (databases ?? '').replace(/\[.*?\]/g, '').match(/\S+/g) ?? [];
  return names.some((name) => !LOCAL.has(name));
}

/** A recorded tree without /etc/passwd knows no names: then only root is left out. */
export function ownerFilter(tree: NodeTree): (user: number) => boolean {
  const passwd = tree.text('etc/passwd');
  if (passwd === null) return (user) => user !== 0;
  const users = new Map<number, boolean>();
  for (const line of passwd.split('\n')) {
    const [name, , user] = line.split(':');
    if (user === undefined) continue;
    // Several names can share a number; the first one counts.
    if (!users.has(Number(user))) users.set(Number(user), !SERVICES.has(name));
  }
  users.set(0, false);
  const others = hasDirectory(tree);
  return (user) => users.get(user) ?? others;
}
