/**
 * The connection to the recording that the server shows: a WebSocket, or server-sent events if WebSockets are blocked. Reconnects
 * back by itself.
 */
import type { ServedFacts } from '../../src/view/facts/served.ts';
import { EVENTS_PATH, LIVE_PATH, type Message, messageOf } from '../../src/view/message.ts';

/** Milliseconds before another try to connect, doubled each time. */
const RETRY_MS = 500;
const MOST_RETRY_MS = 8000;

export interface LinkEvents {
  /** Before anything else, and whenever they change. */
  facts(facts: ServedFacts): void;
  message(message: Message): void;
  /** The past comes anew after each `true`. */
  connected(is: boolean): void;
  /** The server is there, and has another token than the one that this page knows. */
  refused(): void;
}

export interface LinkOptions {
  /** Id of the recording; '' for the first. */
  readonly recording: string;
  /** Tables whose samples are not wanted. */
  readonly without: readonly string[];
}

export class Link {
  private readonly events: LinkEvents;
  private readonly query: string;
  private retry = RETRY_MS;
  private closed = false;
  private stop: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a WebSocket was ever open: otherwise something in between may block it. */
  private hasSocket = false;
  private triesEvents = false;

  constructor({ recording, without }: LinkOptions, events: LinkEvents) {
    const query = new URLSearchParams({ without: without.join(',') });
    if (recording !== '') query.set('recording', recording);
    this.query = `?${query}`;
    this.events = events;
    this.connect();
  }

  /** The kind of connection, to be shown. */
  get kind(): 'socket' | 'events' {
    return this.triesEvents ? 'events' : 'socket';
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.stop?.();
  }

  private connect(): void {
    if (this.triesEvents) this.byEvents();
    else this.bySocket();
  }

  private open(): void {
    this.retry = RETRY_MS;
    this.events.connected(true);
  }

  private lost(): void {
    this.stop = null;
    if (this.closed) return;
    this.events.connected(false);
    void this.whether();
    // Turn by turn, until one of the two gets through.
    if (!this.hasSocket) this.triesEvents = !this.triesEvents;
    this.timer = setTimeout(() => this.connect(), this.retry);
    this.retry = Math.min(MOST_RETRY_MS, 2 * this.retry);
  }

  /** A refused connection gives no reason; a request does. */
  private async whether(): Promise<void> {
    const status = await fetch('/api/recordings').then(
      (response) => response.status,
      () => 0,
    );
    if (status === 401 && !this.closed) this.events.refused();
  }

  private said(text: string): void {
    const { kind, facts } = JSON.parse(text) as { kind: string; facts: ServedFacts };
    if (kind === 'facts') this.events.facts(facts);
  }

  private bySocket(): void {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}${LIVE_PATH}${this.query}`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      this.hasSocket = true;
      this.open();
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') this.said(data);
      else this.events.message(messageOf(data as ArrayBuffer));
    };
    socket.onclose = () => this.lost();
    this.stop = () => socket.close();
  }

  private byEvents(): void {
    const events = new EventSource(`${EVENTS_PATH}${this.query}`);
    events.onopen = () => this.open();
    events.addEventListener('facts', ({ data }) => this.said(data as string));
    events.addEventListener('frame', ({ data }) => {
      const text = atob(data as string);
      const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
      this.events.message(messageOf(bytes.buffer));
    });
    // It would try again by itself without reporting it.
    events.onerror = () => {
      events.close();
      this.lost();
    };
    this.stop = () => events.close();
  }
}
