/** Grafana dashboards and OpenMetrics text, as far as tests look at them. */
import { readFileSync } from 'node:fs';

/** Functions and words of PromQL that the dashboards use. */
const WORDS = new Set(['sum', 'max', 'count', 'rate', 'time', 'by']);
const VARIABLES = new Set(['__rate_interval', 'datasource']);

/** Names of samples in OpenMetrics text, with the labels that they have. */
export function metricsIn(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const own = found.get(name) ?? new Set<string>();
    for (const [, label] of labels.matchAll(/(\w+)="/g)) own.add(label);
    found.set(name, own);
  }
  return found;
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
}

interface Board {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly time: { readonly from: string; readonly to: string };
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

/** A metric of an expression and the labels that it is asked for. */
interface Asked {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** What an expression asks for. Labels of `by` are asked of all its metrics. */
export function askedBy(expression: string): Asked[] {
  const bare = expression.replace(/"[^"]*"/g, '""');
  const groups = [...bare.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list.split(',').map((label) => label.trim()),
  );
  const rest = bare.replace(/\bby\s*\([^)]*\)/g, '').replace(/\[[^\]]*\]/g, '');
  return [...rest.matchAll(/([a-zA-Z_:][\w:]*)(\s*\()?(?:\{([^}]*)\})?/g)]
    .filter(([, , call]) => call === undefined)
    .filter(([, name]) => !WORDS.has(name))
    .map(([, metric, , matchers = '']) => ({
      metric,
      labels: [...groups, ...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label)],
    }));
}

function balanced(expression: string): boolean {
  const open: string[] = [];
  for (const c of expression.replace(/"[^"]*"/g, '')) {
    if ('([{'.includes(c)) open.push(c);
    else if (')]}'.includes(c) && open.pop() !== '([{'[')]}'.indexOf(c)]) return false;
  }
  return open.length === 0;
}

export class Dashboard {
  readonly board: Board;

  constructor(path: string) {
    this.board = JSON.parse(readFileSync(path, 'utf8')) as Board;
  }

  private get expressions(): string[] {
    const { panels, templating } = this.board;
    const variables = templating.list.flatMap(
      ({ definition }) => /^label_values\((\w+), \w+\)$/.exec(definition ?? '')?.[1] ?? [],
    );
    return [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...variables];
  }

  /** What Grafana would stumble over. */
  problems(): string[] {
    const { uid, title, schemaVersion, time, panels, templating } = this.board;
    const problems: string[] = [];
    const must = (ok: boolean, what: string) => void (ok || problems.push(what));
    must(/^[\w-]{1,40}$/.test(uid) && title !== '', 'uid or title');
    must(Number.isInteger(schemaVersion) && schemaVersion >= 36, 'schemaVersion');
    must(time.from.startsWith('now') && time.to === 'now', 'time');
    must(new Set(panels.map(({ id }) => id)).size === panels.length, 'ids of panels');
    const defined = new Set(templating.list.map(({ name }) => name));
    must(defined.has('datasource'), 'a variable for the data source');
    for (const { title, type, gridPos, datasource, fieldConfig, targets } of panels) {
      const say = (ok: boolean, what: string) => must(ok, `${title}: ${what}`);
      say(['timeseries', 'stat'].includes(type), `type ${type}`);
      say(
        datasource.type === 'prometheus' && datasource.uid === '$'.concat('{datasource}'),
        'data source',
      );
      say(fieldConfig.defaults.unit !== '', 'unit');
      say(gridPos.x >= 0 && gridPos.x + gridPos.w <= 24 && gridPos.h > 0, 'outside the grid');
      say(new Set(targets.map(({ refId }) => refId)).size === targets.length, 'refIds');
      for (const { expr, legendFormat } of targets) {
        say(balanced(expr), `brackets of ${expr}`);
        say(legendFormat !== '', 'legend');
        for (const [, call] of expr.matchAll(/\b([a-z_]\w*)\s*\(/g))
          say(WORDS.has(call), `function ${call}`);
        for (const [, name] of expr.matchAll(/\$(\w+)/g)) {
          say(defined.has(name) || VARIABLES.has(name), `variable ${name}`);
        }
        for (const { metric } of askedBy(expr)) {
          const counter = metric.endsWith('_total');
          const rated = expr.includes(`rate(${metric}`);
          say(
            !counter || rated || expr.startsWith('count('),
            `${metric} is a counter without rate()`,
          );
          say(counter || !rated, `${metric} is no counter and has rate()`);
        }
      }
    }
    for (const [k, one] of panels.entries()) {
      for (const other of panels.slice(k + 1)) {
        const [a, b] = [one.gridPos, other.gridPos];
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        must(apart, `${one.title} lies over ${other.title}`);
      }
    }
    return problems;
  }

  /** Metrics and labels that the dashboard asks for and nobody serves. */
  unknown(served: ReadonlyMap<string, ReadonlySet<string>>): string[] {
    return this.expressions.flatMap(askedBy).flatMap(({ metric, labels }) => {
      const own = served.get(metric);
      if (own === undefined) return metric;
      return labels.filter((label) => !own.has(label)).map((label) => `${metric}{${label}}`);
    });
  }
}
