/** The formulas of declared metrics as text. */
import { inputsOf, short, sumText, type Weights } from '../../../model/measures/index.ts';
import {
  type Constant,
  type Declaration,
  keyOf,
  scaleOf,
  typeOf,
  withoutTypes,
} from './declaration.ts';

/** Δ: counted in the job, by all hosts; or, of the highest of all intervals, in an interval, of t seconds. */
function textOf({ unit, highest: of, ...quotient }: Declaration): string {
  const { of: over, per, factor = 1, constant, devices, optional = [] } = quotient;
  const types = new Set(inputsOf({ of: over, per, factor }).map(typeOf));
  const bracketed = types.size > 1 ? optional : optional.map(keyOf);
  const term = (weights: Weights) => {
    const text = sumText(types.size > 1 ? weights : withoutTypes(weights), bracketed);
    const delta = per === null && of !== undefined ? '' : 'Δ';
    return `${delta}${text.includes(' ') ? `(${text})` : text}`;
  };
  const seconds = of === undefined ? 'T N' : 't';
  const below = [
    scaleOf(unit)[1],
    per === null ? '' : per === 'seconds' ? seconds : term(per),
    constant?.under ? constant.name : '',
  ].filter((text) => text !== '');
  const each = per === null ? 'times' : 'intervals';
  return [
    of === 'host' ? `max over hosts and ${each} of ` : '',
    of === 'sum' ? `max over ${each} of the hosts’ sum of ` : '',
    factor === 1 ? '' : `${factor} `,
    constant === undefined || constant.under ? '' : `${constant.name} × `,
    term(over),
    below.length === 0 ? '' : ' / ',
    below.length > 1 || below[0] === 'T N' ? `(${below.join(' ')})` : below.join(''),
    devices === undefined ? '' : `, of ${devices.join(', else of ')}`,
  ].join('');
}

/** What applies in other jobs, each after the words that say in which. */
function others(declared: Declaration): readonly (readonly [string, Declaration])[] {
  const { or, inQueue, ...common } = declared;
  const [first] = Object.keys(declared.of);
  return [
    ...(or ? [[`where there is no ${keyOf(first)}: `, { ...common, ...or }] as const] : []),
    ...(inQueue
      ? [[`in queues like ${inQueue[0].source}: `, { ...common, ...inQueue[1] }] as const]
      : []),
  ];
}

export const formulaOf = (declared: Declaration): string =>
  [['', declared] as const, ...others(declared)]
    .map(([when, one]) => when + textOf(one))
    .join('; ');

/** `type.key`, of all jobs. */
export const inputNames = (declared: Declaration): readonly string[] => [
  ...new Set(
    [declared, ...others(declared).map(([, one]) => one)].flatMap(({ of, per }) =>
      inputsOf({ of, per, factor: 1 }),
    ),
  ),
];

/** The values of a constant: “Nominal frequency in GHz: 2.7 of intel_snb, intel_8pmc3; 2.8 of intel_ivb”. */
export function valuesText({ name, unit, values }: Constant): string {
  const all = Object.entries(values);
  const known = [...new Set(Object.values(values))].filter((value) => !Number.isNaN(value));
  const texts = known.map((value) => {
    const types = all.filter(([, own]) => own === value).map(([type]) => type);
    return `${short(value, { digits: true })} of ${types.join(', ')}`;
  });
  return `${name[0].toUpperCase()}${name.slice(1)} in ${unit}: ${texts.join('; ')}`;
}
