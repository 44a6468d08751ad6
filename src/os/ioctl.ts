/** ioctl(2) with a buffer (Linux, through libc). */
import { koffi } from './koffi.ts';

let call: ((file: number, request: number, argument: Uint8Array | null) => number) | undefined;

/** Whether the request succeeded; the call may change `argument`. @throws Error if there is no FFI */
export function ioctl(file: number, request: number, argument: Uint8Array | null): boolean {
  if (call === undefined) {
    const ffi = koffi();
    call = ffi.load(null).func('int ioctl(int, unsigned long, _Inout_ uint8_t *)');
  }
  return call?.(file, request, argument) === 0;
}
