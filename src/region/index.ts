/** Regions: marked by programs, read by the controller. */
export {
  PageError,
  type PageEvent,
  type PageNode,
  PageReader,
  type PageRegion,
  type PageSnapshot,
  type PageThread,
} from './page-reader.ts';
