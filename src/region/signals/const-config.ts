/**
 * Constants that an administrator has written down: a JSON object of `{NAME: {domain, description, units, aggregation, values}}`.
 * Their names are `CONST_CONFIG::NAME`. Source: GEOPM's geopm_pio_const_config manual page.
 */
import { readFileSync } from 'node:fs';
import { AGGREGATIONS, type AggregationName } from '../aggregation.ts';
import type { Machine } from '../machine.ts';
import { SignalConfigError } from '../signal-error.ts';
import { isSignalDomain } from '../topology.ts';
import type { Provider, Signal, SignalDeclaration, SignalUnit } from './provider.ts';

const ENVIRONMENT = 'GEOPM_CONST_CONFIG_PATH';
const DEFAULT_PATH = 'etc/geopm/const_config_io.json';

const UNITS: Readonly<Record<string, SignalUnit>> = {
  none: '',
  '': '',
  seconds: 's',
  hertz: 'Hz',
  watts: 'W',
  joules: 'J',
  celsius: 'Celsius',
  amperes: 'A',
  volts: 'V',
};

const ANY: SignalDeclaration = {
  name: 'CONST_CONFIG::{NAME}',
  description: 'Value that the file gives for this name',
  unit: '',
  domain: 'board',
  behaviour: 'constant',
  aggregation: 'expect_same',
  format: 'double',
};

/** The file that applies, and its text; null if there is none. @throws SignalConfigError */
function configOf(machine: Machine): { path: string; text: string } | null {
  const named = process.env[ENVIRONMENT];
  const path = named || machine.path(DEFAULT_PATH);
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    if (!named) return null;
    throw new SignalConfigError(`${path} (${ENVIRONMENT}): ${(error as Error).message}`);
  }
}

function aggregationOf(name: unknown): AggregationName | null {
  if (typeof name !== 'string' || !Object.hasOwn(AGGREGATIONS, name)) return null;
  return name as AggregationName;
}

/** @throws SignalConfigError */
function signalsOf(path: string, text: string): Signal[] {
  const wrong = (what: string) => new SignalConfigError(`${path}: ${what}`);
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw wrong('it is not a JSON object of signals');
  }
  return Object.entries(config as Record<string, unknown>).map(([name, entry]): Signal => {
    const { domain, description, units, aggregation, values, common_value } = (entry ??
      {}) as Record<string, unknown>;
    if (typeof domain !== 'string' || !isSignalDomain(domain)) {
      throw wrong(`${name}: domain is not a known domain`);
    }
    if (typeof description !== 'string') throw wrong(`${name}: description is not a text`);
    if (typeof units !== 'string' || !Object.hasOwn(UNITS, units)) {
      throw wrong(`${name}: units is not one of ${Object.keys(UNITS).filter(Boolean).join(', ')}`);
    }
    const function_ = aggregationOf(aggregation);
    if (function_ === null) {
      throw wrong(`${name}: aggregation is not one of ${Object.keys(AGGREGATIONS).join(', ')}`);
    }
    const list = Array.isArray(values) ? values : null;
    if (list !== null && !list.every((value) => typeof value === 'number')) {
      throw wrong(`${name}: values is not a list of numbers`);
    }
    if (list === null && typeof common_value !== 'number') {
      throw wrong(`${name}: it has neither values nor common_value`);
    }
    return {
      name: `CONST_CONFIG::${name}`,
      description,
      unit: UNITS[units],
      domain,
      behaviour: 'constant',
      aggregation: function_,
      format: 'double',
      computed: true,
      open: (index) => {
        const value = list === null ? (common_value as number) : (list[index] as number);
        return value === undefined ? null : { read: () => value };
      },
    };
  });
}

export const constConfig: Provider = {
  name: 'const-config',
  source: `the file that ${ENVIRONMENT} names, or /${DEFAULT_PATH}`,
  declares: [ANY],
  open({ machine }) {
    const config = configOf(machine);
    return { signals: config === null ? [] : signalsOf(config.path, config.text) };
  },
};
