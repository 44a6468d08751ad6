/**
 * What a provider of signals declares: once, and help, docs, report keys, OpenMetrics types follow from it.
 * Source of the model: GEOPM's PlatformIO and IOGroup manual pages.
 */
import type { AggregationName } from '../aggregation.ts';
import type { Machine } from '../machine.ts';
import type { SignalReader, Tick } from '../tick.ts';
import { SIGNAL_DOMAINS, type SignalDomain } from './domains.ts';

export { SIGNAL_DOMAINS, type SignalDomain, type SignalReader };

/** `constant`: never changes; `monotone`: only grows; `variable`: any number; `label`: names something. */
export type Behaviour = 'constant' | 'monotone' | 'variable' | 'label';

/** How a value is written: `%.16g`, whole, `0x%08x`, `%g`; `raw64`: its 64 bits as 16 hexadecimal digits. */
export type SignalFormat = 'double' | 'integer' | 'hex' | 'float' | 'raw64';

/** GEOPM's units; '' for a bare number. */
export type SignalUnit = '' | 's' | 'Hz' | 'W' | 'J' | 'Celsius' | 'A' | 'V' | 'B';

/** A signal: name, unit, domain, how it behaves over time and how parts become a whole. */
export interface SignalDeclaration {
  /** Upper case. A word in braces stands for names that the machine decides: `HWMON::{CHIP}::TEMP`. */
  readonly name: string;
  /** The name it is asked for by those who do not care about its provider; the first provider that has it wins. */
  readonly alias?: string;
  /** What it measures, as `signal list` prints it. */
  readonly description: string;
  /** Unit of its values. */
  readonly unit: SignalUnit;
  /** Where it is measured. It may be read there, or aggregated at a coarser domain. */
  readonly domain: SignalDomain;
  /** How it changes over time: constant, variable, monotone, or a label. */
  readonly behaviour: Behaviour;
  /** How the values of several places become one. */
  readonly aggregation: AggregationName;
  /** How a value is printed. */
  readonly format: SignalFormat;
}

/** One signal of one machine. */
export interface Signal extends SignalDeclaration {
  /** A reader for native domain `index`; null where that index has none. */
  open(index: number, tick: Tick): SignalReader | null;
  /** Nothing is read for it: it follows from the time, from other channels, and from where the application is. */
  readonly computed?: true;
  /** Samples before the first value; 1 where absent. */
  readonly warmUp?: number;
  /** It takes its alias from whoever has it: signals that are right only together come from one source. */
  readonly claims?: true;
}

/** A setting: name, unit and domain. */
export interface ControlDeclaration {
  /** Upper case, such as `POWERCAP::PACKAGE_POWER_LIMIT`. */
  readonly name: string;
  /** The name that does not say who provides it. */
  readonly alias?: string;
  /** What it sets, as `signal list --controls` prints it. */
  readonly description: string;
  /** Unit of its values. */
  readonly unit: SignalUnit;
  /** Where it is set. A coarser domain sets all its parts. */
  readonly domain: SignalDomain;
  /** What a value for a coarser domain is for each of its parts: the `same`, or a `share`. */
  readonly over: 'same' | 'share';
}

/** One place that a control sets, and how a value in the control's unit is written there. */
export interface ControlSetting {
  /** Absolute, of a file; of what is no file, a name by which `region restore` finds it again, in another process too. */
  readonly path: string;
  /** How it is read and written where it is no file: the text is a whole number. What throws says why. */
  readonly device?: { read(): string; write(text: string): void };
  /** @throws RangeError where it cannot be */
  text(value: number): string;
}

/** A setting with its places: of each index the registers or files that make it up. */
export interface Control extends ControlDeclaration {
  /** What has to be written for native domain `index`; empty where it has none. */
  settings(index: number): readonly ControlSetting[];
}

/** What a provider is given: the machine, and other providers' signals by name. */
export interface ProviderContext {
  /** The machine to look at. */
  readonly machine: Machine;
  /** A signal of an earlier provider, by name or alias; null where there is none. */
  find(name: string): Signal | null;
}

/** What a provider found on this machine. Declared signals that are absent are not in it. */
export interface Provided {
  /** The signals that the machine has. */
  readonly signals: readonly Signal[];
  /** The controls that the machine has. */
  readonly controls?: readonly Control[];
  /** Frees what `open` took. */
  close?(): void;
}

/** Where signals and controls are from. Those that this machine does not have are absent, not an error. */
export interface Provider {
  /** Lower case, such as `powercap`. */
  readonly name: string;
  /** Where it reads: for the docs. */
  readonly source: string;
  /** What it may provide. */
  readonly declares: readonly SignalDeclaration[];
  /** Controls that it may provide. */
  readonly controls?: readonly ControlDeclaration[];
  /** Finds what this machine has; a machine without the source gives no signals. */
  open(context: ProviderContext): Provided;
}

/** Nothing here. */
export const NOTHING: Provided = { signals: [] };
