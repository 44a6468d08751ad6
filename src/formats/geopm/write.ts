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
  COMPATIBLE_PROFILE_COLUMNS,
  PROFILE_COLUMNS,
  type ProfileRow,
  profileRowText,
  type TraceColumn,
  type TraceHeader,
  traceHeaderText,
  traceRowText,
} from './write-trace.ts';
