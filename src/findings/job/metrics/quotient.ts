/** The values of declared metrics: of a whole job, or of its hosts in time. */
import { evaluate, inputsOf, sumText, type Weights } from '../../../model/measures/index.ts';
import { type HostSeries, highest, type JobView, MissingInput, summed } from '../view.ts';
import {
  type Declaration,
  type JobQuotient,
  keyOf,
  scaleOf,
  typeOf,
  withoutTypes,
} from './declaration.ts';
import { typeIn } from './types.ts';

/** The type and key of an input. A family's name stands for the type that the job has of it. @throws MissingInput */
function place(view: JobView, name: string): readonly [string, string] {
  return [typeIn(view, typeOf(name)), keyOf(name)];
}

type InputPlaces = ReadonlyMap<string, readonly [string, string]>;

/** Where the inputs are that the job has. @throws MissingInput where one is not there that has to be, or none is */
function placesOf(view: JobView, { of, per, optional = [] }: JobQuotient): InputPlaces {
  const names = inputsOf({ of, per, factor: 1 });
  const all = new Map(names.map((name) => [name, place(view, name)]));
  const there = new Map([...all].filter(([, at]) => view.has(...at)));
  const lost = names.find((name) => !there.has(name) && !optional.includes(name));
  const [type, key] = all.get(lost ?? names[0]) ?? [];
  if (type === undefined || (lost === undefined && there.size > 0)) return there;
  const others = lost === undefined && names.length > 2;
  throw new MissingInput(
    !view.has(type)
      ? `type ${type}`
      : `${type}.${key}${others ? ` and the ${names.length - 1} others that would do` : ''}`,
  );
}

/** A quotient of which a job has the inputs. */
interface Applied {
  readonly quotient: JobQuotient;
  readonly places: InputPlaces;
  readonly factor: number;
}

function factorOf(view: JobView, { factor = 1, constant }: JobQuotient): number {
  if (constant === undefined) return factor;
  const type = typeIn(view, constant.family);
  const value = constant.values[type] ?? Number.NaN;
  if (Number.isNaN(value)) throw new MissingInput(`the ${constant.name} of ${type}`);
  return constant.under ? factor / value : factor * value;
}

/** @throws MissingInput that names what each alternative lacks */
function apply(view: JobView, declared: Declaration): Applied {
  const { inQueue, or } = declared;
  const isOther = inQueue?.[0].test(view.job.accounted?.queue ?? '');
  const lacks: string[] = [];
  const [first] = Object.keys(declared.of);
  for (const part of [isOther ? inQueue?.[1] : {}, ...(or === undefined ? [] : [or])]) {
    const quotient = { ...declared, ...part };
    try {
      const places = placesOf(view, quotient);
      return { quotient, places, factor: factorOf(view, quotient) };
    } catch (error) {
      if (!(error instanceof MissingInput)) throw error;
      lacks.push(error.message);
      if (or === undefined || view.has(typeOf(first), keyOf(first))) break;
    }
  }
  throw new MissingInput(lacks.join(', and '));
}

/** Of the whole job. */
function ofJob(view: JobView, { quotient, places, factor }: Applied): number {
  const { of, per, optional, devices } = quotient;
  const sums = new Map(
    [...places].map(([name, [type, key]]) => [
      name,
      devices === undefined ? view.total(type, key) : view.oneDevice(type, key, devices),
    ]),
  );
  const seconds = per === 'seconds' ? view.seconds * view.hostCount : null;
  const value = evaluate(
    { of, per, factor, ...(optional && { optional }) },
    (name) => sums.get(name) ?? null,
    seconds,
  );
  return value ?? Number.NaN;
}

/** By host, in each interval between two times; of what is divided by nothing, at each time. */
function ofHosts(view: JobView, { quotient, places, factor }: Applied): HostSeries {
  const { of, per } = quotient;
  const spans = per === null ? [] : view.spans();
  const sums = (weights: Weights) => {
    const found = new Map<string, Float64Array>();
    for (const [name, weight] of Object.entries(weights)) {
      const at = places.get(name);
      if (at === undefined) continue;
      if (per !== null) view.total(...at);
      for (const [host, values] of view.series(...at)) {
        const sum = found.get(host) ?? new Float64Array(values.length);
        for (let k = 0; k < sum.length; k++) sum[k] += weight * values[k];
        found.set(host, sum);
      }
    }
    return found;
  };
  const below = per === null || per === 'seconds' ? null : sums(per);
  const found = new Map<string, Float64Array>();
  for (const [host, values] of sums(of)) {
    if (per === null) {
      found.set(
        host,
        values.map((value) => factor * value),
      );
      continue;
    }
    const under = below?.get(host);
    if (below !== null && under === undefined) continue;
    const course = new Float64Array(spans.length);
    for (let k = 0; k < course.length; k++) {
      const by = under === undefined ? spans[k] : under[k + 1] - under[k];
      course[k] = by > 0 ? (factor * (values[k + 1] - values[k])) / by : Number.NaN;
    }
    found.set(host, course);
  }
  return found;
}

/** The highest of the job's intervals or samples. */
function highestOf(view: JobView, applied: Applied, of: 'host' | 'sum'): number {
  const series = ofHosts(view, applied);
  const most = highest(of === 'host' ? series : new Map([['all', summed(series)]]));
  const [[name, at]] = applied.places;
  const type = typeOf(name);
  if (Number.isNaN(most)) throw new MissingInput(`a sample of ${type}`);
  // Gauges have no total that could be told.
  if (applied.quotient.per === null) {
    view.note(`${type}.${sumText(withoutTypes(applied.quotient.of))}`, most, view.unit(...at));
  }
  return most;
}

/** By host, in the metric's unit: in each interval between two times; of gauges at each time. @throws MissingInput */
export function courseOf(view: JobView, declared: Declaration): HostSeries {
  const [scale] = scaleOf(declared.unit);
  const course = ofHosts(view, apply(view, declared));
  return new Map([...course].map(([host, values]) => [host, values.map((one) => one / scale)]));
}

/** @throws MissingInput */
export function measured(view: JobView, declared: Declaration): number {
  const lacks = declared.lacks?.(view) ?? null;
  if (lacks !== null) throw new MissingInput(lacks);
  const applied = apply(view, declared);
  const { highest: of, unit } = declared;
  const value = of === undefined ? ofJob(view, applied) : highestOf(view, applied, of);
  return value / scaleOf(unit)[0];
}
