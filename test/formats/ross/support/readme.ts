/** The README beside files of 2017 as ROSS wrote it, or as we do. */
import { type ReadmeInfo, readmeText } from 'triscope/formats';

/** A README of ours: two PEs with two KPs and three LPs each, where nothing else is said. */
export const ourReadme = (info: Partial<ReadmeInfo> = {}): string =>
  readmeText({
    layout: 'ross-2017',
    kpsPerPe: 2,
    lpsPerPe: [3, 3],
    detailed: false,
    gvt: true,
    rt: true,
    created: new Date(0),
    version: '',
    groups: [],
    ...info,
  });

const OURS = /^(LAYOUT|BYTE_ORDER|EVENT_TRACE|LP_TYPES|MODEL_SAMPLE|EVENT_DATA)=.*\n/gm;

/** The same without the lines that ROSS never wrote; `options` with their values tell its time. */
export function rossReadme(
  options: Readonly<Record<string, string>>,
  info: Partial<ReadmeInfo> = {},
): string {
  const groups = [{ title: 'ROSS Instrumentation', options: Object.entries(options) }];
  return ourReadme({ ...info, groups }).replace(OURS, '');
}
