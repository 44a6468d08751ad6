/**
 * Signals for a thread other than the main one. Node delivers signals to the main thread alone, which may be busy with something
 * that never ends; libuv delivers them to every loop that asks. Source: docs.libuv.org, uv_loop_t and uv_signal_t.
 */
import { constants } from 'node:os';
import { koffi } from './koffi.ts';

/** UV_SIGNAL of uv_handle_type, UV_RUN_NOWAIT of uv_run_mode. */
const SIGNAL = 16;
const NOWAIT = 2;

/** Addresses in libuv: a loop, and a handle per signal. They may be sent to the thread that looks for signals. */
export interface CaughtSignals {
  readonly loop: bigint;
  readonly handles: readonly (readonly [number: number, handle: bigint])[];
}

/**
 * From now on `SignalLook` sees the signals `names`; the main thread still gets them if it listens.
 * @throws Error if the platform has no FFI, or Node hides libuv
 */
export function catchSignals(names: readonly NodeJS.Signals[]): CaughtSignals {
  const ffi = koffi();
  const node = ffi.load(null);
  // Never freed: a signal may arrive while the thread that looks is being ended.
  const room = (size: number | bigint) => BigInt(ffi.address(ffi.alloc('char', Number(size))));
  const loop = room(node.func('size_t uv_loop_size()')());
  const size = node.func('size_t uv_handle_size(int)')(SIGNAL);
  const init = node.func('int uv_signal_init(void *, void *)');
  const arm = armer();
  if (node.func('int uv_loop_init(void *)')(loop) !== 0) throw new Error('no loop of libuv');
  const handles = names.map((name) => {
    const handle = room(size);
    init(loop, handle);
    arm(handle, constants.signals[name]);
    return [constants.signals[name], handle] as const;
  });
  return { loop, handles };
}

/** For a signal, libuv calls its own function that stops the handle; so nothing calls into JavaScript. */
function armer(): (handle: bigint, number: number) => void {
  const node = koffi().load(null);
  const start = node.func('int uv_signal_start(void *, void *, int)');
  const stop = node.symbol('uv_signal_stop', 'void');
  return (handle, number) => start(handle, stop, number);
}

/** Sees signals from one thread. */
export class SignalLook {
  private readonly caught: CaughtSignals;
  private readonly run: (loop: bigint, mode: number) => number;
  private readonly isActive: (handle: bigint) => number;
  private readonly stop: (handle: bigint) => number;
  private readonly arm = armer();

  constructor(caught: CaughtSignals) {
    const node = koffi().load(null);
    this.caught = caught;
    this.run = node.func('int uv_run(void *, int)');
    this.isActive = node.func('int uv_is_active(void *)');
    this.stop = node.func('int uv_signal_stop(void *)');
  }

  /** Whether a signal has arrived since the last call. */
  take(): boolean {
    const { loop, handles } = this.caught;
    this.run(loop, NOWAIT);
    const come = handles.filter(([, handle]) => this.isActive(handle) === 0);
    for (const [number, handle] of come) this.arm(handle, number);
    return come.length > 0;
  }

  /** Sees no more signals. */
  close(): void {
    for (const [, handle] of this.caught.handles) this.stop(handle);
  }
}
