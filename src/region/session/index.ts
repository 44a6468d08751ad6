/** Watching signals over time: requests, samples, rows, reports. */

export { type ReportFormat, SessionReport } from './report.ts';
export {
  parseRequest,
  requestedColumns,
  type SignalRequest,
  type WatchColumn,
} from './requests.ts';
export { Session, type SessionOptions, type SessionRow } from './session.ts';
export { headerText, rowJson, rowText, valueText } from './trace.ts';
