/**
 * The dashboard's server: `startServer` shows recordings and live runs in a browser, and a `LiveBus` passes samples on to those who follow a run.
 *
 * @module triscope/live
 */

export type { PageFacts } from '../view/facts/run.ts';
export { type SeriesSource, SeriesStore, type TableFacts } from '../view/series/store.ts';
export { type Follower, LiveBus } from './bus.ts';
export { ServeError } from './net/listen.ts';
export { openSeries } from './recording-source.ts';
export { type LiveServer, type ServerOptions, startServer } from './server.ts';
