/** Who is at the other end of a Unix socket (Linux, through libc). */
import type { Socket } from 'node:net';
import { koffi } from './koffi.ts';

type GetOption = (
  file: number,
  level: number,
  option: number,
  value: Uint8Array,
  length: Uint32Array,
) => number;

/** Source: <asm-generic/socket.h>. */
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** `struct ucred`: process, user and group, 32 bits each. */
const UCRED_BYTES = 12;
const UID_AT = 4;

let getOption: GetOption | null | undefined;

function load(): GetOption | null {
  if (getOption !== undefined) return getOption;
  getOption = null;
  if (process.platform !== 'linux') return getOption;
  try {
    getOption = koffi()
      .load(null)
      .func('int getsockopt(int, int, int, _Out_ uint8_t *, _Inout_ uint32_t *)');
  } catch {
    // No FFI on this platform.
  }
  return getOption;
}

/** Whether `peerUser` can tell anything here. */
export const canTellPeers = (): boolean => load() !== null;

/**
 * The id of the user whose process connected, as the kernel noted it then; null where it cannot tell, such as of
 * connections by network. Source: unix(7), SO_PEERCRED.
 */
export function peerUser(socket: Socket): number | null {
  const file = (socket as unknown as { _handle?: { fd?: number } | null })._handle?.fd;
  // Only of Unix sockets, which have no address.
  if (file === undefined || file < 0 || socket.remoteAddress !== undefined) return null;
  const value = new Uint8Array(UCRED_BYTES);
  const failed = load()?.(file, SOL_SOCKET, SO_PEERCRED, value, new Uint32Array([UCRED_BYTES]));
  return failed === 0 ? new DataView(value.buffer).getUint32(UID_AT, true) : null;
}
