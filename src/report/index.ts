/** Reports: what is slow, with tables and charts. */
export type { Chart } from './chart.ts';
export {
  type Change,
  type ChangeVerdict,
  type Comparison,
  compareRecordings,
  type Explanation,
  type FactChange,
  type FindingChange,
  OF_SETTINGS,
  SCOPES,
  type Scope,
  type SettingChange,
  type TimeCause,
} from './compare/index.ts';
export { gather, type RecordingReport } from './gather.ts';
export { htmlPage } from './html.ts';
export type { ReportTable } from './tables.ts';
export { checkPage, ReportFileError, writePage } from './write-page.ts';
