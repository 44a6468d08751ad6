/**
 * A machine's signals and controls by name: push those that are wanted once, then read all of them at each tick.
 *
 * ```ts
 * const platform = Platform.open();
 * const energy = platform.push('CPU_ENERGY', 'board', 0);
 * platform.readBatch();
 * platform.sample(energy); // joules; NaN if this machine has none
 * platform.close();
 * ```
 * Source of the model: GEOPM's PlatformIO manual page.
 */
import { AGGREGATIONS, type Aggregate } from './aggregation.ts';
import { clockOffset } from './clock.ts';
import { Controls, type SavedSetting } from './controls.ts';
import { Machine } from './machine.ts';
import { AbsentSignalError, SignalError } from './signal-error.ts';
import {
  type ControlDeclaration,
  type Provided,
  type Provider,
  SIGNAL_DOMAINS,
  type Signal,
  type SignalDeclaration,
  type SignalDomain,
} from './signals/provider.ts';
import { ALL_PROVIDERS, PROVIDERS } from './signals/providers.ts';
import { syntheticProvider } from './signals/synthetic.ts';
import { Tick } from './tick.ts';
import { isSignalDomain, type MachineTopology } from './topology.ts';

/** Which root folder, whether to make up signals, whether settings may be written, and which CPUs count. */
export interface PlatformOptions {
  /** Folder with a recorded (or changing) `proc` and `sys`. */
  readonly root?: string;
  /** Makes up energies and frequencies, marked as such, if the machine has none. */
  readonly synthetic?: boolean;
  /** Whether controls may be written. */
  readonly allowControl?: boolean;
  /** CPUs whose values count when signals of CPUs are aggregated; all if omitted. */
  readonly activeCpus?: Iterable<number>;
  /** Providers that come before the machine's, such as one for the application's regions. */
  readonly providers?: readonly Provider[];
}

/** A signal that this machine has. */
export interface SignalInfo extends SignalDeclaration {
  /** Name of the provider that has it. */
  readonly provider: string;
  /** Other names that it may be asked for by. */
  readonly aliases: readonly string[];
}

/** What was pushed: channels to gather, and how their values are combined. */
interface Pushed {
  readonly signal: string;
  readonly domain: SignalDomain;
  readonly index: number;
  /** Native indices, with a channel for each. */
  readonly indices: readonly number[];
  readonly channels: readonly { readonly value: number }[];
  readonly aggregate: Aggregate;
  readonly ofCpus: boolean;
}

/**
 * Signals and controls of a machine. They are pushed once, then read together, as in GEOPM.
 * @example
 * ```ts
 * import { Platform } from 'triscope/signals';
 *
 * const platform = Platform.open({ synthetic: true });
 * const energy = platform.push('CPU_ENERGY', 'package', 0);
 * platform.readBatch();
 * console.log(platform.sample(energy)); // J; NaN where it is absent
 * platform.close();
 * ```
 */
export class Platform {
  /** Packages, cores, CPUs and the like. */
  readonly topology: MachineTopology;
  /** The machine's controls: settings that can be written. */
  readonly controls: Controls;
  private readonly _tick: Tick;
  private readonly machine: Machine;
  private readonly opened: Provided[] = [];
  private readonly _signals = new Map<string, Signal>();
  private readonly infos: Omit<SignalInfo, 'aliases'>[] = [];
  private readonly aliases = new Map<string, string>();
  private readonly pushed: Pushed[] = [];
  private readonly handles = new Map<string, number>();
  private scratch = new Float64Array(16);
  private active: ReadonlySet<number> | null = null;
  private ticks = 0;

  private constructor(options: PlatformOptions) {
    this.machine = new Machine(options.root);
    this.topology = this.machine.topology;
    this._tick = new Tick(this.machine, performance.now());
    const providers = [...(options.providers ?? []), ...PROVIDERS];
    const context = { machine: this.machine, find: (name: string) => this.find(name) };
    const open = (provider: Provider) => {
      const provided = provider.open(context);
      this.opened.push(provided);
      for (const signal of provided.signals) this.register(provider, signal);
    };
    // Derived signals come last; they may be derived from made-up values.
    const isLast = ({ name }: Provider) => name === 'derived';
    for (const provider of providers) if (!isLast(provider)) open(provider);
    if (options.synthetic) open(syntheticProvider);
    for (const provider of providers) if (isLast(provider)) open(provider);
    const found = this.opened.flatMap(({ controls }) => controls ?? []);
    this.controls = new Controls(this.machine, found, options.allowControl ?? false);
    this.setActiveCpus(options.activeCpus ?? null);
  }

  /** Opens the machine's signals. @throws SignalConfigError if a file that describes signals is invalid */
  static open(options: PlatformOptions = {}): Platform {
    return new Platform(options);
  }

  private register(provider: Provider, signal: Signal): void {
    if (this._signals.has(signal.name)) return;
    this._signals.set(signal.name, signal);
    if (signal.alias !== undefined && (signal.claims || this.find(signal.alias) === null)) {
      this.aliases.set(signal.alias, signal.name);
    }
    const { name, description, unit, domain, behaviour, aggregation, format } = signal;
    this.infos.push({
      ...{ name, description, unit, domain, behaviour, aggregation, format },
      provider: provider.name,
    });
  }

  private find(name: string): Signal | null {
    return this._signals.get(this.aliases.get(name) ?? name) ?? null;
  }

  /** The signals that this machine has. */
  signals(): readonly SignalInfo[] {
    const aliases = [...this.aliases];
    return this.infos.map((info) => ({
      ...info,
      aliases: aliases.filter(([, name]) => name === info.name).map(([alias]) => alias),
    }));
  }

  /** Every name and alias that `push` takes. */
  names(): string[] {
    return [...this._signals.keys(), ...this.aliases.keys()];
  }

  /** Description of a signal, by name or alias; null if this machine has no such signal. */
  info(name: string): SignalInfo | null {
    const signal = this.find(name);
    return this.signals().find((info) => info.name === signal?.name) ?? null;
  }

  /** The largest index of a domain plus 1; 0 if the machine has no part of that domain. */
  domainCount(domain: SignalDomain): number {
    return this.topology.count(domain);
  }

  /** `CLOCK_MONOTONIC` in ns at the moment from which TIME counts. */
  get timeZero(): bigint {
    return BigInt(Math.round(clockOffset() + this._tick.zero * 1e6));
  }

  set timeZero(nanoseconds: bigint) {
    this._tick.zero = (Number(nanoseconds) - clockOffset()) / 1e6;
  }

  /** Which CPUs count when values of CPUs are aggregated; null: all. */
  setActiveCpus(cpus: Iterable<number> | null): void {
    this.active = cpus === null ? null : new Set(cpus);
  }

  /** The domain called `name`. @throws SignalError if there is none */
  domain(name: string): SignalDomain {
    if (isSignalDomain(name)) return name;
    throw new SignalError(`domain ${name}: must be one of ${SIGNAL_DOMAINS.join(', ')}`, name, [
      ...SIGNAL_DOMAINS,
    ]);
  }

  /**
   * Requests a signal at each tick, at its native domain or aggregated to a coarser one.
   * @param index number of the part of the machine within `domain`, from 0 on
   * @returns the handle for `sample`; the same request always has the same one
   * @throws SignalError if there is no such signal, or not at this domain or index
   * @throws AbsentSignalError if this machine lacks the signal
   */
  push(name: string, domain: SignalDomain, index: number): number {
    const key = `${name} ${domain} ${index}`;
    const known = this.handles.get(key);
    if (known !== undefined) return known;
    const pushed = this.gather(this._tick, name, domain, index);
    this.pushed.push(pushed);
    if (pushed.indices.length > this.scratch.length) {
      this.scratch = new Float64Array(pushed.indices.length);
    }
    const handle = this.pushed.length - 1;
    this.handles.set(key, handle);
    return handle;
  }

  private gather(tick: Tick, name: string, domain: SignalDomain, index: number): Pushed {
    const signal = this.find(name);
    if (signal === null) throw this.unknown(name);
    const native = signal.domain;
    if (!this.topology.nests(native, domain)) {
      throw new SignalError(
        `domain ${domain} is not valid for ${name}, which is measured per ${native} and can be read per ${native} or coarser`,
      );
    }
    if (!this.topology.has(domain, index)) {
      const count = this.topology.indices(domain).length;
      throw new SignalError(`${name}: there is no ${domain} ${index}; this machine has ${count}`);
    }
    const all = this.topology.within(native, domain, index);
    const indices = signal.aggregation === 'select_first' ? all.slice(0, 1) : all;
    const channels = indices.map((at) => tick.channel(signal, at));
    const aggregate = AGGREGATIONS[signal.aggregation];
    const ofCpus = native === 'cpu' && domain !== 'cpu' && signal.aggregation !== 'select_first';
    return { signal: name, domain, index, indices, channels, aggregate, ofCpus };
  }

  /** A name that other machines may have is absent here; any other name is a mistake. */
  private unknown(name: string): SignalError | AbsentSignalError {
    const declared = ALL_PROVIDERS.flatMap(({ declares }) =>
      declares.flatMap((one) => [one.name, ...(one.alias ? [one.alias] : [])]),
    );
    const sources = ALL_PROVIDERS.filter(({ declares }) =>
      declares.some((one) => one.name === name || one.alias === name),
    ).map(({ name, source }) => `${name}: ${source}`);
    if (sources.length === 0)
      return new SignalError(`there is no signal ${name}`, name, [...this.names(), ...declared]);
    return new AbsentSignalError(
      `${name} is not available on this machine; it would come from ${sources.join('; ')}`,
    );
  }

  /** One tick: reads each file that is needed once. */
  readBatch(): void {
    this._tick.take();
    this.ticks++;
  }

  /** The first half of a tick: reads files. `tick.compute()` is the other half: at once or, from what was kept, later. */
  get tick(): Pick<Tick, 'time' | 'read' | 'compute' | 'kept' | 'keep' | 'recall'> {
    return this._tick;
  }

  /** Value at the last tick, in the signal's unit, for the `handle` that `push` returned; NaN if it is absent. */
  sample(handle: number): number {
    const pushed = this.pushed[handle];
    if (pushed === undefined || this.ticks === 0) return Number.NaN;
    return this.value(pushed);
  }

  private value({ channels, indices, aggregate, ofCpus }: Pushed): number {
    if (channels.length === 1) return channels[0].value;
    const values = this.scratch;
    let count = 0;
    for (let k = 0; k < channels.length; k++) {
      if (ofCpus && this.active !== null && !this.active.has(indices[k])) continue;
      values[count++] = channels[k].value;
    }
    return aggregate(values, count);
  }

  /**
   * One value now, in the signal's unit, independent of what is pushed. Signals that need several samples take them 5 ms apart.
   * @param index number of the part of the machine within `domain`, from 0 on
   * @throws SignalError as `push`
   */
  read(name: string, domain: SignalDomain, index: number): number {
    const tick = new Tick(this.machine, this._tick.zero);
    try {
      const pushed = this.gather(tick, name, domain, index);
      if (pushed.indices.length > this.scratch.length) {
        this.scratch = new Float64Array(pushed.indices.length);
      }
      const samples = this.find(name)?.warmUp ?? 1;
      for (let k = 0; k < samples; k++) {
        if (k > 0) Atomics.wait(SLEEPER, 0, 0, WARM_UP_MS);
        tick.take();
      }
      return this.value(pushed);
    } finally {
      tick.close();
    }
  }

  /** Closes the devices' files; settings that were written stay. */
  close(): void {
    this._tick.close();
    for (const provided of this.opened) provided.close?.();
  }
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4));
const WARM_UP_MS = 5;

export type { ControlDeclaration, SavedSetting };
