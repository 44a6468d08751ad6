/**
 * Who sees which jobs by a Unix socket: who connects is known by the user of the process. Root and the user who runs the
 * server see everything, as do those whom the file of users gives the word `all`; others their own jobs.
 */
import { spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { userInfo } from 'node:os';
import { peerUser } from '../../os/peer.ts';
import { EVERYTHING, type Users, type Viewer } from './users.ts';

/** Milliseconds for which a directory of users may take to answer. */
const ANSWER_TIMEOUT_MS = 2000;

/** The name of a user id, as the machine's directories have it; null where they have none. */
function nameOf(id: number): string | null {
  const { status, stdout } = spawnSync('getent', ['passwd', String(id)], {
    encoding: 'utf8',
    timeout: ANSWER_TIMEOUT_MS,
  });
  const [name = ''] = status === 0 ? stdout.split(':') : [];
  return name === '' ? null : name;
}

export class Callers {
  private readonly users: Users | null;
  private readonly names = new Map<number, string>();

  /** @param users who else sees everything; null: nobody */
  constructor(users: Users | null) {
    this.users = users;
  }

  /** Who asks; null: a user without a name. */
  by(socket: Socket): Viewer | null {
    const id = peerUser(socket);
    if (id === null) return null;
    if (id === 0 || id === userInfo().uid) return EVERYTHING;
    const user = this.names.get(id) ?? nameOf(id);
    if (user === null) return null;
    this.names.set(id, user);
    return this.users?.isOperator(user) ? EVERYTHING : { user };
  }
}
