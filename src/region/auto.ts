/**
 * Marks Node's own asynchronous work in an unchanged program: `node --import triscope/region/auto`, with
 * TRISCOPE_AUTO=fs,http,fetch. Such spans overlap, so they are counted separately and never enter attribution. With
 * `sim` in the list, engines of the simulator mark what they do: event processing, rollback, GVT, fossil collection,
 * and, over MPI, its calls.
 */
import { createHook } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { ENGINE_REGIONS, MARK_MPI_SEND, offerEngineMarks } from '../model/engine-marks.ts';
import { ENV_AUTO, type Hint } from '../model/region-layout.ts';
import { type AsyncSpans, asyncSpans, engineCells, region } from './mark.ts';

/** Spans between messages of two kinds about the same object. Source: Node's and undici's diagnostics channels. */
interface Channels {
  readonly name: string;
  readonly start: string;
  readonly ends: readonly string[];
  /** The message's field that both have. */
  readonly key: string;
}

const HTTP: readonly Channels[] = [
  {
    name: 'http.server',
    start: 'http.server.request.start',
    ends: ['http.server.response.finish'],
    key: 'response',
  },
  {
    name: 'http.client',
    start: 'http.client.request.start',
    ends: ['http.client.response.finish', 'http.client.request.error'],
    key: 'request',
  },
];

const FETCH: Channels = {
  name: 'fetch',
  start: 'undici:request:create',
  ends: ['undici:request:trailers', 'undici:request:error'],
  key: 'request',
};

function spansFor(name: string, hint: Hint, begin: (spans: AsyncSpans) => void): void {
  const spans = asyncSpans(name, hint);
  if (spans !== null) begin(spans);
}

function watchChannels({ name, start, ends, key }: Channels): void {
  spansFor(name, 'network', (spans) => {
    const open = new WeakMap<object, number>();
    const subject = (message: unknown) => (message as Readonly<Record<string, object>>)[key];
    diagnostics.subscribe(start, (message) => open.set(subject(message), spans.begin()));
    for (const end of ends) {
      diagnostics.subscribe(end, (message) => {
        const began = open.get(subject(message));
        // The object is unknown: it began before this module was loaded, or another message has ended it already.
        if (began === undefined) return;
        open.delete(subject(message));
        spans.end(began);
      });
    }
  });
}

/** Requests to the file system, by callback or by promise. Node has no diagnostics channel for these, but hooks. */
function watchFiles(): void {
  spansFor('fs', 'io', (spans) => {
    const open = new Map<number, number>();
    const finish = (id: number) => {
      const began = open.get(id);
      if (began === undefined) return;
      open.delete(id);
      spans.end(began);
    };
    createHook({
      init: (id, type) => {
        if (type.startsWith('FSREQ')) open.set(id, spans.begin());
      },
      // If its callback runs, the request is done; if it is destroyed without, the request was aborted.
      before: finish,
      destroy: finish,
    }).enable();
  });
}

/** What the simulator's engines do in this thread: ordinary regions, as they never overlap. */
function markEngine(): void {
  // MPI's regions are named at their first call: most runs do not use MPI.
  const regions = ENGINE_REGIONS.slice(0, MARK_MPI_SEND).map(([name, hint]) => region(name, hint));
  const cells = engineCells();
  if (cells === null) return;
  const of = (number: number) => {
    regions[number] ??= region(...ENGINE_REGIONS[number]);
    return regions[number];
  };
  offerEngineMarks({
    enter: (number) => of(number).enter(),
    exit: (number) => of(number).exit(),
    reached: (gvt, ...counts) => cells.put(gvt, ...counts),
  });
}

const WATCH: Readonly<Record<string, () => void>> = {
  fs: watchFiles,
  http: () => HTTP.forEach(watchChannels),
  fetch: () => watchChannels(FETCH),
  sim: markEngine,
};

for (const kind of (process.env[ENV_AUTO] ?? '').split(',').filter((word) => word !== '')) {
  const watch = WATCH[kind];
  if (watch !== undefined) watch();
  else {
    const known = Object.keys(WATCH).join(', ');
    process.emitWarning(`${ENV_AUTO}: no '${kind}'; it is a list of ${known}`, 'RegionWarning');
  }
}
