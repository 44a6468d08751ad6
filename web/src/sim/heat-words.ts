/** A heatmap in words: its title names what is remarkable. */
import type { Heat } from '../../../src/view/simulation/heat.ts';
import { nameOf } from '../../../src/view/simulation/levels.ts';
import { counted } from '../figures.ts';
import { metricLabel, withUnit } from './words.ts';

interface Ranked {
  readonly count: number;
  readonly highest: number;
  readonly lowest: number;
  readonly median: number;
}

/** Rows that were measured, by their value over the window. */
function ranked({ totals }: Heat): Ranked | null {
  const rows = [...totals.keys()].filter((row) => !Number.isNaN(totals[row]));
  if (rows.length === 0) return null;
  rows.sort((a, b) => totals[b] - totals[a]);
  return {
    count: rows.length,
    highest: rows[0],
    lowest: rows[rows.length - 1],
    median: totals[rows[rows.length >> 1]],
  };
}

const LEVEL_WORDS = { pe: 'PE', kp: 'KP', lp: 'LP' } as const;

/** `within`: path of the entity whose parts are shown; '' for all. */
export function heatTitle({ key, level }: Heat, within = ''): string {
  const parts = `${LEVEL_WORDS[level]}s`;
  return within === ''
    ? `${metricLabel(key)} of ${parts}`
    : `${metricLabel(key)} of the ${parts} of ${nameOf(within)}`;
}

export function heatSentence(heat: Heat): string {
  const { rows, totals, unit, level, key } = heat;
  const found = ranked(heat);
  if (found === null) return 'Nothing was measured in this window.';
  const { count, highest, lowest, median } = found;
  const value = (row: number) => withUnit(totals[row], unit);
  if (count === 1) return `${nameOf(rows[highest])}: ${value(highest)} in this window.`;
  if (totals[highest] === totals[lowest]) {
    return `All ${counted(count, LEVEL_WORDS[level])} have ${value(highest)} in this window.`;
  }
  const [first, word] = key === 'efficiency' ? [lowest, 'lowest'] : [highest, 'highest'];
  const other = first === lowest ? highest : lowest;
  const middle = count > 2 ? `the median is ${withUnit(median, unit)}, ` : '';
  return `${nameOf(rows[first])} has the ${word} in this window, ${value(first)}; ${middle}${nameOf(rows[other])} has ${value(other)}.`;
}
