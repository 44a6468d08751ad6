/** The live bus and the dashboard's server. */
export { type Follower, LiveBus } from './bus.ts';
export type { Facts } from './facts.ts';
export { ServeError } from './net/listen.ts';
export { openRecording } from './recording-source.ts';
export { type SeriesSource, SeriesStore, type TableFacts } from './series/store.ts';
export { type LiveServer, type ServerOptions, startServer } from './server.ts';
