/** A job's page for the terminal. */

import { notExaminedText, nothingFound, type Verdict } from '../findings/index.ts';
import {
  balanceOf,
  conditionOf,
  type DeviceRow,
  flagsOf,
  isoTime,
  type Job,
  METRIC_FAMILIES,
  type MetricTrack,
  type MetricValue,
  metricsOf,
  notesOf,
  repairsOf,
  tracksOf,
} from '../findings/job/index.ts';
import { counted, duration, shareText } from '../model/measures/index.ts';
import { GIB } from '../model/units.ts';
import { sparkline } from './sparkline.ts';
import { figure, type painter, table } from './table.ts';

type Paint = ReturnType<typeof painter>;

/** Hosts, devices and processes that are shown, unless all are asked for. */
const SHOWN = 16;
const INPUTS = 3;

const more = (count: number, what: string) =>
  count > 0 ? [`  … and ${counted(count, what)} more (--all, --json)`] : [];

function headLines(job: Job, paint: Paint): string[] {
  const { accounted, times, hosts } = job;
  const span = times.length === 0 ? 0 : times[times.length - 1] - times[0];
  const groups = hosts.reduce((sum, host) => sum + host.times.length, 0);
  const lines = [
    paint.bold(`job ${job.id}`),
    `  records   ${isoTime(times[0])} to ${isoTime(times[times.length - 1])}, ${duration(span)}; ${counted(groups, 'record group')} on ${counted(hosts.length, 'host')}`,
  ];
  if (accounted === null) return lines;
  const { user, account, queue, name, state, started, ended, submitted, nodes, cores } = accounted;
  const known = (label: string, value: string | number | null) =>
    value === null || value === '' ? [] : [`${label} ${value}`];
  const facts = [
    ...known('user', user),
    ...known('account', account),
    ...known('queue', queue),
    ...known('name', name),
    ...known('state', state),
    ...known('nodes', nodes),
    ...known('cores', cores),
  ];
  lines.push(`  job       ${facts.join(', ')}`);
  const waited =
    submitted === null || started === null ? '' : `, waited ${duration(started - submitted)}`;
  if (started !== null) {
    lines.push(
      `  ran       ${isoTime(started)}${ended === null ? '' : ` to ${isoTime(ended)}, ${duration(ended - started)}`}${waited}`,
    );
  }
  return lines;
}

function hostLines(job: Job, paint: Paint, all: boolean): string[] {
  const lacking = (name: string, time: number | null) =>
    time === null ? `no ${name}` : isoTime(time).slice(11, 19);
  const balance = new Map(balanceOf(job).map((one) => [one.host, one]));
  // Hosts with something missing first.
  const ordered = [...job.hosts].sort(
    (a, b) =>
      Number(b.begin === null || b.end === null) - Number(a.begin === null || a.end === null),
  );
  const shown = all ? ordered : ordered.slice(0, SHOWN);
  const rows = shown.map((host) => {
    const own = balance.get(host.host);
    return [
      host.host,
      String(host.times.length),
      lacking('begin', host.begin),
      lacking('end', host.end),
      own === undefined ? '' : own.cores.toFixed(2),
      own === undefined ? '' : shareText(own.behind),
      host.others.length === 0 ? '' : host.others.slice(0, 3).join(','),
    ];
  });
  const lines = table(['host', 'groups', 'begin', 'end', 'user cores', 'behind', 'others'], rows);
  const gaps = job.missing.map(({ host, why }) => `  ${paint.bad('missing')}: ${host} ${why}`);
  return [...lines, ...more(ordered.length - shown.length, 'host'), ...gaps];
}

/** Counts with all digits where a double holds them exactly. */
const exact = (value: number) => (Number.isSafeInteger(value) ? String(value) : figure(value));

function inputText({ inputs }: MetricValue): string {
  const shown = inputs
    .slice(0, INPUTS)
    .map(({ name, value, unit }) => `${name} ${exact(value)}${unit === '' ? '' : ` ${unit}`}`);
  const rest = inputs.length > INPUTS ? `, and ${inputs.length - INPUTS} more` : '';
  return shown.join(', ') + rest;
}

/** Names of metrics by what they lack. */
function byReason(lacking: readonly MetricValue[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { metric, lacks } of lacking) {
    found.set(lacks, [...(found.get(lacks) ?? []), metric.name]);
  }
  return found;
}

function metricLines(values: readonly MetricValue[], paint: Paint): string[] {
  const lines: string[] = [];
  const width = Math.max(...values.map(({ metric }) => metric.name.length));
  for (const { title, set, metrics } of METRIC_FAMILIES) {
    const own = values.filter((value) => value.set === set && metrics.includes(value.metric));
    const there = own.filter(({ value }) => value !== null);
    const lacking = own.filter(({ value }) => value === null);
    lines.push(`  ${title}`);
    for (const one of there) {
      const number = figure(one.value ?? 0).padStart(12);
      lines.push(
        `    ${one.metric.name.padEnd(width)} ${number} ${one.metric.unit.padEnd(18)} ${paint.dim(inputText(one))}`.trimEnd(),
        ...(one.doubt === ''
          ? []
          : [`    ${''.padEnd(width)} ${paint.bad('doubtful')}: ${one.doubt}`]),
      );
    }
    for (const [lacks, names] of byReason(lacking)) {
      lines.push(`    ${paint.dim(`not available: ${names.join(', ')}: lacks ${lacks}`)}`);
    }
  }
  return lines;
}

function flagLines(job: Job, values: readonly MetricValue[], paint: Paint): string[] {
  const results = flagsOf(job, values);
  const up = results.filter(({ result }) => result === 'flagged');
  const passed = results.filter(({ result }) => result === 'pass').length;
  const rows = up.map(({ flag, value }) => [
    flag.name,
    flag.metric,
    figure(value ?? 0),
    conditionOf(flag),
  ]);
  const width = Math.max(0, ...rows.map((row) => row[0].length));
  const lines = rows.map(([name, metric, value, condition], k) => {
    return `  ${paint.bad(name.padEnd(width))}  ${metric} ${value}, flagged where ${condition}: ${up[k].flag.means}`;
  });
  const rest = results.length - up.length - passed;
  return [...lines, `  ${paint.dim(`${passed} passed, ${rest} not available (--json lists all)`)}`];
}

function trackLines(tracks: readonly MetricTrack[], paint: Paint, all: boolean): string[] {
  return tracks.flatMap(({ name, unit, hosts }) => {
    let top = 0;
    for (const values of hosts.values()) for (const value of values) if (value > top) top = value;
    const shown = all ? [...hosts] : [...hosts].slice(0, SHOWN);
    const width = Math.max(...shown.map(([host]) => host.length));
    return [
      `  ${name} ${paint.dim(`(${unit}, 0 to ${figure(top)})`)}`,
      ...shown.map(([host, values]) => `    ${host.padEnd(width)}  ${sparkline(values, top)}`),
      ...more(hosts.size - shown.length, 'host').map((line) => `  ${line}`),
    ];
  });
}

function processLines(job: Job, all: boolean): string[] {
  const processes = job.hosts
    .flatMap(({ host, processes }) => processes.list.map((one) => ({ host, ...one })))
    .sort((a, b) => (b.highWater ?? 0) - (a.highWater ?? 0));
  if (processes.length === 0) return [];
  const shown = all ? processes : processes.slice(0, SHOWN);
  const gb = (value: number | null) => (value === null ? '' : (value / GIB).toFixed(3));
  const rows = shown.map((one) => [
    one.name,
    one.host,
    one.pid,
    gb(one.highWater),
    gb(one.resident),
    one.threads === null ? '' : String(one.threads),
    one.cpus ?? '',
  ]);
  const header = ['process', 'host', 'pid', 'high water GiB', 'resident GiB', 'threads', 'cpus'];
  return [...table(header, rows), ...more(processes.length - shown.length, 'process'), ''];
}

function repairLines(job: Job): string[] {
  const rows = repairsOf(job).map(({ type, key, ok, wrapped, dip, reset, suspect }) => [
    `${type}.${key}`,
    ...[ok, wrapped, dip, reset, suspect].map(String),
  ]);
  if (rows.length === 0) return [];
  return [...table(['counter', 'ok', 'wrapped', 'dip', 'reset', 'suspect'], rows), ''];
}

function oddityLines(job: Job, all: boolean): string[] {
  const shown = all ? job.oddities : job.oddities.slice(0, SHOWN);
  return [
    ...shown.map(({ place, what }) => `  ${place}: ${what}`),
    ...(job.oddities.length > shown.length
      ? [`  … and ${job.oddities.length - shown.length} more (--all, --json)`]
      : []),
  ];
}

/** `type`: for a page of one type, its rows. */
export function pageText(type: string, page: readonly DeviceRow[], paint: Paint): string {
  const rows = page.map((row) => [
    row.host,
    row.device,
    row.key,
    row.total ?? '',
    row.rate === null ? '' : figure(row.rate),
    row.first === null ? '' : figure(row.first),
    row.last === null ? '' : figure(row.last),
    row.most === null ? '' : figure(row.most),
    row.unit,
  ]);
  const header = ['host', 'device', 'key', 'total', '1/s', 'first', 'last', 'highest', 'unit'];
  return [paint.bold(`type ${type}`), ...table(header, rows), ''].join('\n');
}

/** The page, without a newline at its end. `all`: every host, process and oddity. */
function findingLines(verdict: Verdict, paint: Paint): string[] {
  const found = verdict.findings.map(({ severity, sentence }) => {
    const mark = severity === 'problem' ? paint.bad(severity) : severity;
    return `  ${mark}: ${sentence}`;
  });
  const open = notExaminedText(verdict.notExamined);
  return [
    ...(found.length === 0 ? [`  ${nothingFound(verdict)}`] : found),
    ...(open === '' ? [] : [`  ${paint.dim(open)}`]),
  ];
}

export function jobText(job: Job, verdict: Verdict, paint: Paint, all: boolean): string {
  const values = metricsOf(job);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', paint.bold(title), ...lines];
  const notes = notesOf(job).map((note) => `  ${note}`);
  return [
    ...headLines(job, paint),
    ...section('findings', findingLines(verdict, paint)),
    ...section('hosts', hostLines(job, paint, all)),
    ...section('in time', trackLines(tracksOf(job), paint, all)),
    ...section('metrics', metricLines(values, paint)),
    ...section('flags', flagLines(job, values, paint)),
    ...section('processes', processLines(job, all)),
    ...section('counters that were repaired (deltas by verdict)', repairLines(job)),
    ...section('to know', notes),
    ...section('strange', oddityLines(job, all)),
  ].join('\n');
}
