/** Reports: what is slow, with tables and charts. */
export type { Chart } from './charts.ts';
export { gather, type RecordingReport } from './gather.ts';
export { htmlPage } from './html.ts';
export type { ReportTable } from './tables.ts';
export { ReportFileError, writePage } from './write-page.ts';
