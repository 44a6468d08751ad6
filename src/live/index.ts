/** The live bus and the dashboard's server. */

export type { Facts } from '../view/facts/run.ts';
export { type SeriesSource, SeriesStore, type TableFacts } from '../view/series/store.ts';
export { type Follower, LiveBus } from './bus.ts';
export { ServeError } from './net/listen.ts';
export { openRecording } from './recording-source.ts';
export { type LiveServer, type ServerOptions, startServer } from './server.ts';
