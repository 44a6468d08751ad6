/** `--stream=ws`: a run's frames over WebSocket, and the page that draws them, while it goes on. */
import { hostname } from 'node:os';

/** Milliseconds that followers get at the end to take what is on its way. */
const LAST_FRAMES_MS = 300;

export class PageOut {
  readonly url: string;
  readonly write: (frames: readonly Uint8Array[], dropped?: number) => void;
  /** Waits for the last frames, then closes. Says what was lost, if anything. */
  readonly end: () => Promise<string | null>;

  /** Closes at once, if it is still there. */
  readonly close: () => void;

  private constructor(parts: Pick<PageOut, 'url' | 'write' | 'end' | 'close'>) {
    this.url = parts.url;
    this.write = parts.write;
    this.end = parts.end;
    this.close = parts.close;
  }

  /** Starts it, on any free port of the loopback address. @throws ServeError */
  static async start(title: string, pes: number): Promise<PageOut> {
    // The server is loaded only on demand.
    const { LiveBus, startServer } = await import('../live/index.ts');
    const host = hostname();
    const places = Array.from({ length: pes }, (_, pe) => ({
      pe,
      rank: 0,
      host,
      cpu: null,
      threadId: null,
    }));
    const bus = new LiveBus({ title, pes: places });
    const server = await startServer({ bus });
    let open = true;
    const end = async () => {
      open = false;
      bus.update({ state: 'finished' });
      await new Promise((resolve) => setTimeout(resolve, bus.followers > 0 ? LAST_FRAMES_MS : 0));
      await server.close();
      return bus.skipped > 0
        ? `--stream: followers were too slow: ${bus.skipped} batches were dropped`
        : null;
    };
    const close = () => {
      if (open) void server.close();
      open = false;
    };
    return new PageOut({ url: server.url, write: bus.stream(), end, close });
  }
}
