/**
 * Ports that can send management datagrams: through the umad device on this machine, or from a recorded tree, whose
 * `mad/ADAPTER.PORT` holds the answers: lines of LID, attribute and datagram, all in hexadecimal.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Umad } from '../../os/umad.ts';
import { type NodeTree, needsRights, UnavailableError } from '../tree.ts';
import type { MadPort } from './mad.ts';

const ADAPTERS = 'sys/class/infiniband';
const DEVICES = 'sys/class/infiniband_mad';
const ACTIVE = 4;

function list(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Sends datagrams from one port. */
type Sender = Pick<MadPort, 'exchange' | 'close'>;

function recorded(path: string): Sender {
  const answers = new Map<string, Uint8Array>();
  for (const [k, line] of readFileSync(path, 'latin1').split('\n').entries()) {
    if (line.trim() === '') continue;
    const match = /^([0-9a-f]{1,8}) ([0-9a-f]{1,4}) ((?:[0-9a-f]{2})+)$/i.exec(line.trim());
    if (!match) throw new UnavailableError(`${path}, line ${k + 1}: not LID, attribute, datagram`);
    const [lid, attribute] = [match[1], match[2]].map((text) => Number.parseInt(text, 16));
    answers.set(`${lid} ${attribute}`, Buffer.from(match[3], 'hex'));
  }
  return {
    exchange: (_, lid, datagram) => {
      const attribute = (datagram[16] << 8) | datagram[17];
      const answer = answers.get(`${lid} ${attribute}`);
      if (answer === undefined) throw new Error(`no answer from LID ${lid} is recorded`);
      return answer;
    },
    close: () => {},
  };
}

function sender(tree: NodeTree, adapter: string, port: number): Sender {
  if (!tree.isThisMachine) {
    try {
      return recorded(join(tree.root, 'mad', `${adapter}.${port}`));
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      throw new UnavailableError(`no umad device is recorded for ${adapter}/${port}`);
    }
  }
  const device = list(`/${DEVICES}`).find(
    (name) =>
      name.startsWith('umad') &&
      tree.text(`${DEVICES}/${name}/ibdev`) === adapter &&
      Number(tree.text(`${DEVICES}/${name}/port`)) === port,
  );
  if (device === undefined) {
    throw new UnavailableError(`no umad device for ${adapter}/${port} (modprobe ib_umad)`);
  }
  const path = `/dev/infiniband/${device}`;
  try {
    return new Umad(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM')
      throw new UnavailableError(needsRights(`open ${path}`));
    throw new UnavailableError((error as Error).message);
  }
}

/**
 * Opens the active ports of the adapters that `wanted` selects.
 * @throws UnavailableError if there are none, or none can send
 */
export function openMadPorts(tree: NodeTree, wanted: (adapter: string) => boolean): MadPort[] {
  const open: MadPort[] = [];
  let reason = 'no active port in /sys/class/infiniband';
  for (const adapter of list(join(tree.root, ADAPTERS)).filter(wanted)) {
    for (const name of list(join(tree.root, ADAPTERS, adapter, 'ports'))) {
      const at = `${ADAPTERS}/${adapter}/ports/${name}`;
      // '4: ACTIVE'
      if (Number.parseInt(tree.text(`${at}/state`) ?? '', 10) !== ACTIVE) continue;
      const [port, lid] = [Number(name), Number(tree.text(`${at}/lid`))];
      try {
        const from = sender(tree, adapter, port);
        open.push({
          adapter,
          port,
          lid,
          exchange: (agent, to, datagram) => from.exchange(agent, to, datagram),
          close: () => from.close(),
        });
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        reason = error.message;
      }
    }
  }
  if (open.length === 0) throw new UnavailableError(reason);
  return open;
}
