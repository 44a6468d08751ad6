/** What an outlet said of a measure, and how outlets are compared. */

/** A number as one outlet shows it. */
export interface Seen {
  readonly outlet: string;
  readonly measure: string;
  /** Such as `PE 1`, `A`, `c414-901`; '' for all of the recording. */
  readonly entity: string;
  readonly value: number | null;
  /** Half of the last digit that is shown; of numbers that are not cut 1e-6 of the value (32-bit arrays). */
  readonly within: number;
}

const NOT_CUT = 1e-6;

export const exact = (
  outlet: string,
  measure: string,
  entity: string,
  value: number | bigint | null | undefined,
): Seen => {
  const number = value === null || value === undefined ? null : Number(value);
  return { outlet, measure, entity, value: number, within: NOT_CUT * Math.abs(number ?? 0) };
};

const PREFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };
const NUMBER = /^\s*([−-]?)([\d,]+(?:\.\d+)?)(e[+-]?\d+)?\s*([kMG]?)(?![A-Za-z]{2})/;

/** A number as people read it: “5,352”, “−132 %”, “14.5 k”, “2.08 GHz”; what is no number was not measured. */
export function printed(outlet: string, measure: string, entity: string, text: string): Seen {
  const [, sign, digits, power = '', prefix] = NUMBER.exec(text) ?? [];
  if (digits === undefined) return { outlet, measure, entity, value: null, within: 0 };
  const factor = PREFIXES[prefix] * Number(`1${power}`) * (sign === '' ? 1 : -1);
  const plain = digits.replace(/,/g, '');
  const decimals = plain.split('.')[1]?.length ?? 0;
  // “12” of 12.3 and “12,300” of 12,345 are cut at the last digit; 1e-9 for what is halfway.
  const unit = Math.abs(factor) * 10 ** -decimals;
  return { outlet, measure, entity, value: Number(plain) * factor, within: unit * (0.5 + 1e-9) };
}

const nameOf = ({ measure, entity }: Seen) => (entity === '' ? measure : `${measure}, ${entity}`);

export interface Difference {
  readonly what: string;
  readonly said: string;
}

/** Each number of each outlet beside the first one of its measure and entity. */
export function differences(all: readonly Seen[]): Difference[] {
  const firsts = new Map<string, Seen>();
  const found: Difference[] = [];
  for (const seen of all) {
    const name = nameOf(seen);
    const first = firsts.get(name);
    if (first === undefined) {
      firsts.set(name, seen);
      continue;
    }
    const same =
      first.value === null || seen.value === null
        ? first.value === seen.value
        : Math.abs(first.value - seen.value) <= first.within + seen.within + 1e-12;
    if (!same) {
      const said = [first, seen].map(({ outlet, value }) => `${outlet} ${value ?? 'not measured'}`);
      found.push({ what: name, said: said.join(', ') });
    }
  }
  return found;
}

/** Measures × outlets: how many numbers of each were compared. */
export function listOf(all: readonly Seen[]): string {
  const outlets = [...new Set(all.map(({ outlet }) => outlet))];
  const measures = [...new Set(all.map(({ measure }) => measure))];
  const count = (measure: string, outlet: string) =>
    all.filter((one) => one.measure === measure && one.outlet === outlet).length;
  const wide = Math.max(...measures.map((name) => name.length));
  const cell = (text: string, k: number) => text.padStart(Math.max(4, outlets[k].length));
  return [
    [''.padEnd(wide), ...outlets.map(cell)].join('  '),
    ...measures.map((measure) =>
      [
        measure.padEnd(wide),
        ...outlets.map((outlet, k) => cell(String(count(measure, outlet) || '·'), k)),
      ].join('  '),
    ),
  ].join('\n');
}
