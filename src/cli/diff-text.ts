/** Two recordings side by side, for a terminal. */
import { duration, signedPercent } from '../model/measures/index.ts';
import {
  type Change,
  type Comparison,
  type Explanation,
  type FactChange,
  type FindingChange,
  OF_SETTINGS,
  type Scope,
  type SettingChange,
} from '../report/index.ts';
import { widthOf, wrapped } from './fit.ts';
import { sparkline } from './sparkline.ts';
import { figure, painter, table } from './table.ts';

interface DiffTextOptions {
  readonly all: boolean;
  /** Changes of less than this share of A are left out. */
  readonly least: number;
}

const TITLES: Readonly<Record<Scope, string>> = {
  run: 'All PEs',
  phase: 'Phases',
  pe: 'PEs',
  kp: 'KPs',
  lp: 'LPs',
  region: 'Regions',
  node: 'Hosts',
  signal: 'Signals',
};
const SCOPES = Object.keys(TITLES) as Scope[];

/** Rows of a table that are shown without --all; of entities that are many and alike fewer. */
const MOST_ROWS = 24;
const MOST_OF_MANY = 10;
const MANY: readonly Scope[] = ['pe', 'kp', 'lp'];
/** Characters of a course. */
const COURSE = 20;
/** A narrower terminal has no room for courses. */
const WIDE = 130;

/** Texts of recordings are data: what would steer a terminal is taken out. */
const plain = (text: unknown): string => String(text).replace(/\p{Cc}+/gu, ' ');

/** Change as a share of A; Infinity where that is not a number of A's. */
function shareOf({ a, change }: Change): number {
  if (change === 0) return 0;
  return a === null || change === null || a.value === 0 ? Infinity : Math.abs(change / a.value);
}

/** What is asked for: without --all what differs. */
export const selected = (
  changes: readonly Change[],
  { all, least }: DiffTextOptions,
): readonly Change[] =>
  changes.filter((one) => all || (one.verdict !== 'same' && shareOf(one) >= least));

const isShare = ({ unit }: Change) => unit.startsWith('%');

/** Shares change by points, other numbers by a share of A. */
function amount(one: Change, of: number): string {
  const base = isShare(one) || one.a === null ? 1 : Math.abs(one.a.value) / 100;
  const value = base === 0 ? Number.NaN : of / base;
  if (!Number.isFinite(value)) return of === 0 ? '0' : '';
  const size = Math.abs(value);
  const digits = size >= 1000 ? value.toPrecision(3) : value.toFixed(size < 10 ? 2 : 1);
  return `${Number(digits)} ${isShare(one) ? 'pt' : '%'}`;
}

function changeText(one: Change): string {
  if (one.change === null) return one.a === null ? 'only in B' : 'only in A';
  if (one.change === 0) return '';
  if (one.a?.value === 0 && !isShare(one)) return 'from 0';
  const text = amount(one, one.change);
  return one.change > 0 ? `+${text}` : text;
}

const boundText = (one: Change): string =>
  one.bound === null || one.change === 0 ? '' : amount(one, one.bound);

/** Says that a change may have been missed. */
function remark(one: Change): string {
  if (one.judgement !== null) return one.judgement;
  if (one.verdict !== 'noise' || one.detectable === null) return REMARKS[one.verdict];
  const size = amount(one, one.detectable);
  return size === '' ? REMARKS.noise : `within noise; a change of ${size} would be seen`;
}

const REMARKS: Readonly<Record<Change['verdict'], string>> = {
  same: 'same',
  noise: 'within noise',
  changed: '',
  unknown: 'noise unknown',
  'only a': '',
  'only b': '',
};

const round = (value: number) => figure(Number(value.toPrecision(4)));

const valueText = (one: Change['a']): string => (one === null ? '-' : round(one.value));

/** How many times its bound a change is: the clearest first. */
const clearness = ({ change, bound }: Change): number =>
  bound === null || bound === 0 ? Infinity : Math.abs(change ?? 0) / bound;

/** Whether a change has a line without --all. */
const speaks = (scope: Scope, { verdict }: Change): boolean =>
  verdict === 'changed' || verdict === 'unknown' || (scope === 'run' && verdict === 'noise');

function rowOf(one: Change, withCourse: boolean): string[] {
  const name = entityOf(one);
  const unit = one.unit === '' ? '' : `, ${one.unit}`;
  const key = `${one.key}${unit}`;
  const course = (side: Change['a']) => {
    const values = (side?.course ?? []).map((value) => value ?? Number.NaN);
    const top = Math.max(
      ...[...(one.a?.course ?? []), ...(one.b?.course ?? [])].map((value) => value ?? 0),
    );
    return sparkline(values, top, COURSE);
  };
  return [
    plain(name === '' ? key : `${name}: ${key}`),
    valueText(one.a),
    valueText(one.b),
    changeText(one),
    boundText(one),
    remark(one),
    ...(withCourse ? [course(one.a), course(one.b)] : []),
  ];
}

const HEADER = ['', 'A', 'B', 'change', '± 95 %', ''];

function scopeLines(scope: Scope, changes: readonly Change[], options: DiffTextOptions): string[] {
  const wanted = selected(changes, options);
  const spoken = options.all ? wanted : wanted.filter((one) => speaks(scope, one));
  const ordered =
    options.all || scope === 'run' || scope === 'phase' || scope === 'region'
      ? spoken
      : [...spoken].sort((x, y) => clearness(y) - clearness(x));
  const shown = options.all
    ? ordered
    : ordered.slice(0, MANY.includes(scope) ? MOST_OF_MANY : MOST_ROWS);
  const withCourse = scope === 'run' && widthOf(process.stdout) >= WIDE;
  const header = [...HEADER, ...(withCourse ? ['course of A', 'course of B'] : [])];
  const rows = shown.map((one) => rowOf(one, withCourse));
  return [
    ...(shown.length === 0 ? [] : table(header, rows)),
    ...rest(changes, ordered.length - shown.length, spoken),
  ];
}

/** Counts the values without a line of their own, and names the entities that only one run has. */
function rest(changes: readonly Change[], more: number, spoken: readonly Change[]): string[] {
  const told = new Set(spoken);
  const untold = changes.filter((one) => !told.has(one));
  const count = (verdict: Change['verdict']) =>
    untold.filter((one) => one.verdict === verdict).length;
  const counts = [
    [more, 'more changed'],
    [count('noise'), 'within noise'],
    [count('same'), 'the same'],
    [count('changed') + count('unknown'), 'changed by less than the given share'],
  ] as const;
  const parts = counts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
  const only = (['only a', 'only b'] as const).flatMap((verdict) => {
    const names = onlyIn(verdict, changes);
    if (names.length === 0) return [];
    const more = names.length > 8 ? `, … (${names.length})` : '';
    const list = names.slice(0, 8).map(plain).join(', ');
    return [`  only in ${verdict === 'only a' ? 'A' : 'B'}: ${list}${more}`];
  });
  return [...(parts.length > 0 ? [`  ${parts.join(', ')}`] : []), ...only];
}

const entityOf = ({ host, entity }: Change): string =>
  [host, entity].filter((part) => part !== null && part !== '').join(' ');

/** Entities that only one has; of those that both have, the numbers. */
function onlyIn(verdict: Change['verdict'], changes: readonly Change[]): string[] {
  if (!changes.some((one) => one.verdict === verdict)) return [];
  const both = new Set(
    changes.filter((one) => !one.verdict.startsWith('only')).map((one) => entityOf(one)),
  );
  const names = changes
    .filter((one) => one.verdict === verdict)
    .map((one) => (both.has(entityOf(one)) || entityOf(one) === '' ? one.key : entityOf(one)));
  return [...new Set(names)];
}

function factLines(
  facts: readonly FactChange[],
  { all, least }: DiffTextOptions,
  hasSettings: boolean,
): string[] {
  const rows: string[][] = [];
  for (const { key, unit, a, b } of facts) {
    if (key === 'command' || (a === b && !all)) continue;
    if (hasSettings && a !== b && OF_SETTINGS.has(key)) continue;
    const isNumber = typeof a === 'number' && typeof b === 'number';
    const share = isNumber && a !== 0 ? (b - a) / Math.abs(a) : Infinity;
    if (!all && Math.abs(share) < least) continue;
    const text = (value: FactChange['a']) =>
      value === null ? '-' : typeof value === 'number' ? figure(value) : plain(value);
    const change =
      !isNumber || !Number.isFinite(share) || share === 0 ? '' : signedPercent(100 * share);
    rows.push([unit === '' ? key : `${key}, ${unit}`, text(a), text(b), change]);
  }
  return rows.length === 0 ? [] : table(['', 'A', 'B', 'change'], rows);
}

/** What A and B were asked to do, with what, and where, as far as it differs. */
function settingLines(settings: readonly SettingChange[]): string[] {
  const text = (value: string | null) => (value === null ? '-' : plain(value));
  const rows = settings.map(({ kind, key, a, b }) => [
    kind === key ? key : `${kind}: ${key}`,
    text(a),
    text(b),
  ]);
  return rows.length === 0 ? [] : table(['', 'A', 'B'], rows);
}

/** Seconds with their sign. */
const signedSeconds = (seconds: number): string => `${seconds > 0 ? '+' : ''}${duration(seconds)}`;

/** Rows of less than this share of the difference are shown with --all only. */
const SMALL = 0.01;

/** Why B took longer: what caused it first. The rows add up to the last one. */
function causeLines(explanation: Explanation | null, all: boolean): string[] {
  if (explanation === null) return [];
  const { sentence, a, b, difference, causes, lane } = explanation;
  const least = SMALL * Math.abs(difference);
  const large = causes.filter((one) => all || Math.abs(one.difference) >= least);
  const small = causes.filter((one) => !large.includes(one));
  const total = (of: (one: (typeof causes)[number]) => number) =>
    small.reduce((sum, one) => sum + of(one), 0);
  const row = (name: string, inA: number, inB: number, change: number, from: number | null) => [
    plain(name),
    duration(inA),
    duration(inB),
    signedSeconds(change),
    from === null ? '' : duration(from),
  ];
  const rows = [
    ...large.map((one) => row(one.what, one.a, one.b, one.difference, one.from)),
    ...(small.length === 0
      ? []
      : [
          row(
            'all else',
            total((one) => one.a),
            total((one) => one.b),
            total((one) => one.difference),
            null,
          ),
        ]),
    row('in all', a, b, difference, null),
  ];
  const header = [lane ?? '', 'A', 'B', 'B − A', 'since'];
  return [...wrapped(plain(sentence), widthOf(process.stdout), '  '), ...table(header, rows)];
}

const MARKS: Readonly<Record<FindingChange['what'], string>> = {
  gained: 'gained',
  worse: 'worse',
  better: 'better',
  lost: 'lost',
  both: 'in both',
};

function findingLines(findings: readonly FindingChange[], all: boolean): string[] {
  const paint = painter(process.stdout);
  const width = widthOf(process.stdout);
  const shown = findings.filter(({ what }) => all || what !== 'both');
  const lines = shown.flatMap(({ rule, what, a, b }) => {
    const bad = what === 'gained' || what === 'worse';
    const mark = bad
      ? paint.bad(MARKS[what])
      : what === 'both'
        ? MARKS[what]
        : paint.good(MARKS[what]);
    const severity = [...new Set([a?.severity, b?.severity].filter((one) => one !== undefined))];
    return [
      `  ${mark}: ${rule} (${severity.join(' → ')})`,
      ...wrapped(plain((b ?? a)?.sentence ?? ''), width, '    '),
    ];
  });
  const both = findings.length - shown.length;
  if (both > 0) lines.push(`  ${both} in both`);
  return lines.length === 0 ? ['  none in either'] : lines;
}

export function diffText(
  a: readonly string[],
  b: readonly string[],
  { settings, unlike, explanation, facts, findings, changes, hosts, notes }: Comparison,
  options: DiffTextOptions,
): string {
  const paint = painter(process.stdout);
  const lines = [`A  ${a.map(plain).join('  ')}`, `B  ${b.map(plain).join('  ')}`];
  for (const pair of hosts) {
    lines.push(`   host ${plain(pair.b)} of B is compared with ${plain(pair.a)} of A`);
  }
  const section = (title: string, body: readonly string[]) => {
    if (body.length > 0) lines.push('', paint.bold(title), ...body);
  };
  if (unlike.length > 0) {
    const width = widthOf(process.stdout);
    lines.push('', ...unlike.flatMap((one) => wrapped(paint.bad(plain(one)), width, '')));
  }
  section('Settings', settingLines(settings));
  section('Where the time went', causeLines(explanation, options.all));
  section('Run', factLines(facts, options, settings.length > 0));
  section('Findings', findingLines(findings, options.all));
  for (const scope of SCOPES) {
    const own = changes.filter((one) => one.scope === scope);
    if (own.length > 0) section(TITLES[scope], scopeLines(scope, own, options));
  }
  if (notes.length > 0) lines.push('', ...notes);
  return `${lines.join('\n')}\n`;
}
