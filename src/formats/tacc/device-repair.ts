/** The rule of `model/counter.ts` over a device's records, one after the other. Records without irregularities make no bigint. */
import {
  type CounterRule,
  chanceOfRolling,
  mayHaveRolled,
  mostIn,
  type Repaired,
  repair,
} from '../../model/counter.ts';
import { counterRule, isCounter } from '../../model/counter-rules.ts';
import type { RawSchema } from './schema.ts';

/** The verdict on a counter between two records; `key` is its number in the schema. */
export type Listener = (key: number, repaired: Repaired) => void;

/** Keys of a schema by their part in the rule: computed once for all devices of a type. */
export interface RepairPlan {
  /** The type's schema. */
  readonly schema: RawSchema;
  /** By key; null for keys that do not count. */
  readonly rules: readonly (CounterRule | null)[];
  /** By key: the keys of the registers that select what it counts. */
  readonly controls: readonly (readonly number[])[];
  /** The values that were last examined, and the same memory as words. */
  readonly seen: { values: BigUint64Array; words: Uint32Array };
}

/** The register of a counter: CTR0 is set by CTL0, PMC0 by PERFEVTSEL0, FIXED_CTR0 by FIXED_CTR_CTRL. */
function controlNames(name: string): readonly string[] {
  const number = /^(CTR|PMC)(\d+)$/.exec(name)?.[2];
  if (number !== undefined) return [`CTL${number}`, `PERFEVTSEL${number}`];
  return /^FIXED_CTR\d*$/.test(name) ? ['FIXED_CTR_CTRL'] : [];
}

const HAS_NUMBERED = /^(CTL|PERFEVTSEL)\d+$/;

/**
 * `scaledEnergy`: see `scalesEnergy`.
 * @example
 * ```ts
 * import { parseSchema, repairPlan } from 'triscope/formats/tacc';
 *
 * const schema = parseSchema('cpu user,E,U=cs idle,E,U=cs');
 * if (typeof schema !== 'string') console.log(repairPlan(schema).rules.length); // 2
 * ```
 */
export function repairPlan(schema: RawSchema, scaledEnergy = false): RepairPlan {
  const { type, keys } = schema;
  const rules = keys.map((key) =>
    isCounter(type, key) ? counterRule(type, key, scaledEnergy) : null,
  );
  const registers = keys.flatMap(({ kind }, k) =>
    kind === 'control' && rules[k] === null ? [k] : [],
  );
  // Registers without numbers, such as port_select of ib_ext, affect all counters.
  const numbered = registers.some((k) => HAS_NUMBERED.test(keys[k].name));
  const controls = keys.map(({ name }, k) => {
    if (rules[k] === null) return [];
    if (!numbered) return registers;
    const names = controlNames(name);
    return registers.filter((register) => names.includes(keys[register].name));
  });
  const seen = { values: new BigUint64Array(0), words: new Uint32Array(0) };
  return { schema, rules, controls, seen };
}

const WORD = 2 ** 32;

/**
 * One device's counters, record by record: what each counted since the record before, by the one rule of counters.
 * @example
 * ```ts
 * import { DeviceRepair, parseSchema, repairPlan } from 'triscope/formats/tacc';
 *
 * const schema = parseSchema('cpu user,E,U=cs idle,E,U=cs');
 * if (typeof schema === 'string') throw new Error(schema);
 * const cpu0 = new DeviceRepair(repairPlan(schema));
 * cpu0.step(0, BigUint64Array.of(100n, 900n), () => {}); // the first record tells nothing
 * cpu0.step(10, BigUint64Array.of(600n, 1400n), (key, { delta }) => console.log(key, delta), { all: true });
 * ```
 */
export class DeviceRepair {
  private readonly plan: RepairPlan;
  /** The values with which the next record is compared. */
  private readonly base: BigUint64Array;
  private readonly baseWords: Uint32Array;
  private readonly last: BigUint64Array;
  private readonly lastWords: Uint32Array;
  /** Time in seconds at which the bases were read. */
  private readonly since: Float64Array;
  private started = false;

  /** @param plan the rules of the type's counters */
  constructor(plan: RepairPlan) {
    this.plan = plan;
    const { length } = plan.schema.keys;
    this.base = new BigUint64Array(length);
    this.baseWords = new Uint32Array(this.base.buffer);
    this.last = new BigUint64Array(length);
    this.lastWords = new Uint32Array(this.last.buffer);
    this.since = new Float64Array(length);
  }

  /**
   * Takes the device's next record. `tell` gets every counter if `all` is set, otherwise only those whose verdict is not ok;
   * nothing for the first record.
   * @param seconds time of the record, since 1970
   * @param values in the order and units of the schema's keys
   */
  step(
    seconds: number,
    values: BigUint64Array,
    tell: Listener,
    { rebooted = false, all = false }: { rebooted?: boolean; all?: boolean } = {},
  ): void {
    const { rules } = this.plan;
    if (!this.started) {
      this.started = true;
      this.base.set(values);
      this.last.set(values);
      this.since.fill(seconds);
      return;
    }
    const words = this.wordsOf(values);
    // Searched for at the first irregular counter: most records have none.
    let together: number | undefined;
    let looked = false;
    for (let k = 0; k < rules.length; k++) {
      const rule = rules[k];
      if (rule === null) continue;
      const control = this.changed(k, words);
      if (!all && !rebooted && control < 0 && this.isPlain(k, words, seconds, rule)) {
        this.base[k] = values[k];
        this.since[k] = seconds;
        continue;
      }
      if (!looked && values[k] < this.base[k]) {
        looked = true;
        together = this.chanceOfAll(values, seconds, k);
      }
      const repaired = repair({
        previous: this.base[k],
        value: values[k],
        seconds: seconds - this.since[k],
        rule,
        last: this.last[k],
        ...(rebooted && { rebooted }),
        ...(together !== undefined && !rule.steady && { together }),
        ...(control >= 0 && { control: this.plan.schema.keys[control].name }),
      });
      if (all || repaired.verdict !== 'ok') tell(k, repaired);
      if (repaired.base === values[k]) this.since[k] = seconds;
      this.base[k] = repaired.base;
    }
    this.last.set(values);
  }

  /**
   * The probability that all counters of the device rolled over; undefined if not all fell, or there is only one. `from`: the
   * first that fell. Those that have not counted yet tell nothing.
   */
  private chanceOfAll(values: BigUint64Array, seconds: number, from: number): number | undefined {
    const { rules } = this.plan;
    let chance = 1;
    let fallen = 0;
    for (let k = 0; k < rules.length; k++) {
      const rule = rules[k];
      const base = this.base[k];
      if (rule === null || base === 0n) continue;
      if (k < from || values[k] >= base) return undefined;
      chance *= chanceOfRolling(base, values[k], seconds - this.since[k], rule);
      fallen++;
    }
    return fallen > 1 ? chance : undefined;
  }

  /** The values as words; readers give the same array again and again. */
  private wordsOf(values: BigUint64Array): Uint32Array {
    const { seen } = this.plan;
    if (seen.values !== values) {
      seen.values = values;
      seen.words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
    }
    return seen.words;
  }

  /** The key of a register of counter `key` that changed; -1 if none did. */
  private changed(key: number, words: Uint32Array): number {
    const last = this.lastWords;
    for (const c of this.plan.controls[key]) {
      if (words[2 * c] !== last[2 * c] || words[2 * c + 1] !== last[2 * c + 1]) return c;
    }
    return -1;
  }

  /** Whether the counter rose by what can be, far from its top: no bigint is needed to see that. */
  private isPlain(key: number, words: Uint32Array, seconds: number, rule: CounterRule): boolean {
    if (rule.top !== null) return false;
    const base = this.baseWords;
    const low = words[2 * key] - base[2 * key];
    const high = words[2 * key + 1] - base[2 * key + 1];
    const rise = high * WORD + low;
    const elapsed = seconds - this.since[key];
    if (rise < 0 || rise > 2 ** 52 || rise > mostIn(elapsed, rule)) return false;
    return !mayHaveRolled(rise, elapsed, rule);
  }
}
