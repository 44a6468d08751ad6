/** The table of what changed, and a sentence about it. */
import type { ComparedChange, CompareFacts } from '../../../src/view/facts/compare.ts';
import { counted, short } from '../figures.ts';
import type { ShownTable } from '../parts/table.ts';

const VERDICTS: Readonly<Record<ComparedChange['verdict'], string>> = {
  same: 'same',
  noise: 'within noise',
  changed: 'changed',
  unknown: 'not known',
  'only a': 'only in A',
  'only b': 'only in B',
};

const signed = (text: string, value: number) => (value > 0 ? `+${text}` : text.replace('-', '−'));

/** Change in per cent of A; null where there is none. */
export const relative = ({ a, change }: ComparedChange): number | null =>
  a === null || change === null || a.value === 0 ? null : (100 * change) / Math.abs(a.value);

/** Scopes whose entities are named so already: “PE 0”, “PE 0 KP 3”. */
const NAMED: ReadonlySet<string> = new Set(['pe', 'kp', 'lp']);

const whatOf = ({ scope, entity }: ComparedChange): string =>
  NAMED.has(scope) ? entity : `${scope} ${entity}`.trimEnd();

export function tableOf(changes: readonly ComparedChange[]): ShownTable {
  return {
    columns: [
      { key: 'what', title: 'Of' },
      { key: 'key', title: 'Measure' },
      { key: 'unit', title: 'Unit' },
      { key: 'a', title: 'A', figure: short },
      { key: 'b', title: 'B', figure: short },
      { key: 'change', title: 'B − A', figure: (value) => signed(short(value), value) },
      {
        key: 'relative',
        title: 'Change',
        unit: '%',
        bar: 'signed',
        figure: (value) => signed(value.toFixed(Math.abs(value) < 10 ? 1 : 0), value),
      },
      {
        key: 'bound',
        title: '± 95 %',
        help: 'Half the width of the interval of the change, from the scatter of the samples',
        figure: short,
      },
      { key: 'verdict', title: 'Verdict', help: 'Within noise: chance explains it' },
    ],
    rows: changes.map((change, k) => ({
      id: String(k),
      cells: {
        what: whatOf(change),
        key: change.key,
        unit: change.unit,
        a: change.a?.value ?? null,
        b: change.b?.value ?? null,
        change: change.change,
        relative: relative(change),
        bound: change.bound,
        verdict: change.judgement ?? VERDICTS[change.verdict],
      },
    })),
  };
}

export function sentenceOf({ changes, findings }: CompareFacts): string {
  const count = (verdict: ComparedChange['verdict']) =>
    changes.filter((change) => change.verdict === verdict).length;
  const gained = findings.filter(({ what }) => what === 'gained').length;
  const lost = findings.filter(({ what }) => what === 'lost').length;
  const judged = (what: ComparedChange['judgement']) =>
    changes.filter(({ judgement }) => judgement === what).length;
  const numbers = `${counted(count('changed'), 'number')} changed by more than chance explains (${judged('better')} better, ${judged('worse')} worse), ${count('noise')} did not.`;
  return gained + lost === 0
    ? numbers
    : `${numbers} ${counted(gained, 'finding')} gained, ${lost} lost.`;
}

/** What A and B were asked to do, with what, and where, as far as it differs. */
export const settingsOf = (settings: CompareFacts['settings']): ShownTable => ({
  columns: [
    { key: 'kind', title: 'Of' },
    { key: 'key', title: 'Setting' },
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B' },
  ],
  rows: settings.map(({ kind, key, a, b }, k) => ({
    id: String(k),
    cells: { kind, key, a: a ?? '', b: b ?? '' },
  })),
});
