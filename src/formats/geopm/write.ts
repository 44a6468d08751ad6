/** Writing GEOPM's files: reports, traces, profile traces. */
export { joinReports } from './join-reports.ts';
export { generalText } from './number-text.ts';
export type {
  AgentFields,
  ExtraValue,
  HostReport,
  Report,
  ReportFields,
  ReportRegion,
  ReportValue,
} from './report.ts';
export { hashText } from './values.ts';
export { reportText } from './write-report.ts';
export {
  PROFILE_COLUMNS,
  type ProfileEvent,
  profileRowText,
  type TraceColumn,
  type TraceHeader,
  traceHeaderText,
  traceRowText,
} from './write-trace.ts';
