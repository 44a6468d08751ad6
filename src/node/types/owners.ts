/**
 * Whose processes are collected: not those of root and of services, nor of users that the machine does not know. Names
 * are those that tacc_stats leaves out.
 */
import type { NodeTree } from '../tree.ts';

const SERVICES = new Set(['postfix', 'rpc', 'rpcuser', 'dbus', 'daemon', 'ntp']);
/** Databases of users whose contents are in files of this machine. */
const LOCAL = new Set(['files', 'compat', 'systemd']);

/** Whether users are looked up elsewhere too, such as in a directory of the cluster: /etc/nsswitch.conf. */
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
    // Several names can share a number; the first is its name.
    if (!users.has(Number(user))) users.set(Number(user), !SERVICES.has(name));
  }
  users.set(0, false);
  const others = hasDirectory(tree);
  return (user) => users.get(user) ?? others;
}
