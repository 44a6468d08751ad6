/** What Triscope's reports say beyond GEOPM's fields: each process, nested regions, whether the run was watched until its end. */
import type { CellValue, RecordKind } from '../../format.ts';
import { numberOf } from '../values.ts';
import type { ReportHost } from './report.ts';

/** The key of a host's own section. */
const OWN_SECTION = 'Triscope';

type Written = string | readonly Written[] | { readonly [key: string]: Written };
type WrittenMap = { readonly [key: string]: Written };

const isMap = (value: Written | undefined): value is WrittenMap =>
  typeof value === 'object' && !Array.isArray(value);
const listIn = (map: WrittenMap, key: string): readonly WrittenMap[] => {
  const value = map[key];
  return Array.isArray(value) ? value.filter(isMap) : [];
};

function sectionOf({ extra }: ReportHost): WrittenMap | null {
  const text = extra.get(OWN_SECTION);
  if (text === undefined || !text.startsWith('{')) return null;
  return JSON.parse(text) as WrittenMap;
}

/** Why the report is incomplete; null if it is complete or does not say. */
export function incompleteness(host: ReportHost): string | null {
  const own = sectionOf(host);
  if (own?.complete !== 'false') return null;
  return typeof own.incomplete === 'string' ? own.incomplete : 'it does not say why';
}

/** Things of a process that could not be recorded: what each of the report's keys means. */
const LOSSES: readonly (readonly [key: string, what: string])[] = [
  [
    'events lost',
    'events were overwritten before they were read: its trace and timeline lack them',
  ],
  ['region names refused', 'region names did not fit: their time is that of other regions'],
  ['threads refused', 'threads did not fit: their regions are missing'],
  ['exits out of order', 'regions were left in another order than entered'],
  ['entries not placed', 'entries to regions were too deep: they are missing'],
];

/** What is missing of processes, as text for the user. */
export function lossesOf(host: ReportHost): string[] {
  const own = sectionOf(host);
  const processes = own === null ? [] : listIn(own, 'processes');
  return processes.flatMap((process) =>
    LOSSES.flatMap(([key, what]) => {
      const count = Number(process[key] ?? 0);
      return count > 0 ? [`process ${process.pid} (${process.name}): ${count} ${what}`] : [];
    }),
  );
}

/** The processes that the report lists. */
export const processCount = (host: ReportHost): number => {
  const own = sectionOf(host);
  return own === null ? 0 : listIn(own, 'processes').length;
};

interface OwnRow {
  readonly kind: RecordKind;
  readonly values: readonly CellValue[];
}

const kindOf = (name: string, keys: readonly string[]): RecordKind => ({
  name,
  keys,
  payload: [],
  bare: true,
});

const RUNTIME = 'runtime (s)';
export const PROCESS_KIND = 'process';
export const INSIDE_KIND = 'inside';
const PROCESS = kindOf(PROCESS_KIND, [
  ...['host', 'section', 'pid', 'process', 'rank', 'region', 'count', RUNTIME],
  ...['process runtime (s)', 'unmarked (s)', 'epochs'],
]);
const INSIDE = kindOf(INSIDE_KIND, [
  ...['host', 'section', 'region', 'path', 'depth', 'count', RUNTIME, 'overlapping'],
]);

const numberIn = (map: WrittenMap, key: string): CellValue => {
  const value = map[key];
  return typeof value === 'string' ? numberOf(value) : null;
};
const textIn = (map: WrittenMap, key: string): CellValue => {
  const value = map[key];
  return typeof value === 'string' ? value : null;
};

/** One row per region of each process, one for a process without regions, and one per place in the hierarchy of regions. */
export function* ownRows(host: ReportHost): Generator<OwnRow, void> {
  const own = sectionOf(host);
  if (own === null) return;
  for (const process of listIn(own, 'processes')) {
    const regions = listIn(process, 'regions');
    for (const region of regions.length === 0 ? [{}] : regions) {
      const values = [
        ...[host.name, PROCESS_KIND, numberIn(process, 'pid'), textIn(process, 'name')],
        ...[numberIn(process, 'rank'), textIn(region, 'region')],
        ...[numberIn(region, 'count'), numberIn(region, RUNTIME), numberIn(process, RUNTIME)],
        ...[numberIn(process, 'unmarked (s)'), numberIn(process, 'epochs')],
      ];
      yield { kind: PROCESS, values };
    }
  }
  yield* insideRows(host.name, listIn(own, 'regions'), '', 1);
}

function* insideRows(
  host: string,
  nodes: readonly WrittenMap[],
  above: string,
  depth: number,
): Generator<OwnRow, void> {
  for (const node of nodes) {
    const region = textIn(node, 'region') ?? '';
    const path = above === '' ? String(region) : `${above} / ${region}`;
    const overlapping = node.overlapping === 'true' ? 1 : 0;
    const numbers = [numberIn(node, 'count'), numberIn(node, RUNTIME), overlapping];
    yield { kind: INSIDE, values: [host, INSIDE_KIND, region, path, depth, ...numbers] };
    yield* insideRows(host, listIn(node, 'inside'), path, depth + 1);
  }
}
