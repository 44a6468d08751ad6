/** Messages to followers, by WebSocket or by server-sent events. Runs in the server and in the page. */

/** Path of the WebSocket. */
export const LIVE_PATH = '/live';
/** Path of the server-sent events. */
export const EVENTS_PATH = '/live/events';

/** Bytes before a frame: u32 number of its stream, u32 frames left out before it, modulo 2^32. Frames stay aligned to 8. */
const PREFIX_BYTES = 8;

export function message(stream: number, frame: Uint8Array, left: number): Uint8Array {
  const bytes = new Uint8Array(PREFIX_BYTES + frame.length);
  new DataView(bytes.buffer).setUint32(0, stream, true);
  new DataView(bytes.buffer).setUint32(4, left, true);
  bytes.set(frame, PREFIX_BYTES);
  return bytes;
}

export interface Message {
  readonly stream: number;
  readonly frame: Uint8Array;
  readonly left: number;
}

export function messageOf(data: ArrayBuffer): Message {
  const view = new DataView(data);
  return {
    stream: view.getUint32(0, true),
    left: view.getUint32(4, true),
    frame: new Uint8Array(data, PREFIX_BYTES),
  };
}

/** Query of a follower's path: the recording, and tables whose samples it does not want. */
interface FollowQuery {
  readonly recording: string | null;
  readonly without: ReadonlySet<string>;
}

export function followQuery(query: URLSearchParams): FollowQuery {
  return {
    recording: query.get('recording'),
    without: new Set(query.get('without')?.split(',')),
  };
}
