/** The node collector's last sample as OpenMetrics: base units, counters with `_total`, a label for the device. */
import { Counter, Gauge, Registry } from 'prom-client';
import { baseUnit } from '../formats/openmetrics/text.ts';
import { RawParser, type RawSchema } from '../formats/tacc/index.ts';

/** Values of a type's devices, as in the last sample. */
interface Sampled {
  readonly schema: RawSchema;
  readonly devices: Map<string, BigUint64Array>;
}

const nameOf = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase();

/** What one key is called, and by what its values are multiplied. */
export function seriesFor(type: string, key: RawSchema['keys'][number]) {
  const [unit, factor] = baseUnit(type, key.name, key.unit);
  const base = `triscope_node_${nameOf(type)}_${nameOf(key.name)}`;
  const named = unit === '' || base.endsWith(`_${unit}`) ? base : `${base}_${unit}`;
  const isCounter = key.kind === 'event';
  return { name: isCounter ? `${named}_total` : named, factor, isCounter };
}

/** Whose sample it is, and what its daemon tells of itself. */
export interface SampleFacts {
  readonly host: string;
  /** Moments that passed while an earlier sample was under way. */
  readonly missed?: number;
  /** Samples that were given up for want of room. */
  readonly lost?: number;
  /** Samples that wait for a disk or a broker. */
  readonly waiting?: number;
}

export class NodeText {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly types = new Map<string, Sampled>();
  private readonly made = new Set<string>();
  private readonly parser = new RawParser({
    schema: (schema) => void this.types.set(schema.type, { schema, devices: new Map() }),
    group: ({ seconds }) => {
      this.time = seconds;
      for (const { devices } of this.types.values()) devices.clear();
    },
    record: ({ type }, device, values) => {
      this.types.get(type)?.devices.set(device, values.slice());
    },
  });
  private readonly help: (type: string, key: string) => string | null;
  private facts: SampleFacts = { host: '' };
  private time = 0;
  private samples = 0;

  /** `help`: what a key of a type means; for types that are not known null. */
  constructor(help: (type: string, key: string) => string | null = () => null) {
    this.help = help;
    this.registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    this.contentType = this.registry.contentType;
    const own = { labelNames: ['host'], registers: [this.registry] };
    const host = () => ({ host: this.host });
    const counter = (name: string, help: string, value: () => number) =>
      new Counter({
        ...{ ...own, name, help },
        collect() {
          this.reset();
          this.inc(host(), value());
        },
      });
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        ...{ ...own, name, help },
        collect() {
          this.set(host(), value());
        },
      });
    const name = (what: string) => `triscope_node_sample${what}`;
    counter(name('s_total'), 'samples since the daemon started', () => this.samples);
    gauge(
      name('_time_seconds'),
      'when the last sample was taken, seconds since 1970',
      () => this.time,
    );
    counter(
      name('s_missed_total'),
      'samples left out, as an earlier one was under way at their moment',
      () => this.facts.missed ?? 0,
    );
    counter(
      name('s_lost_total'),
      'samples given up, as neither disk nor memory had room',
      () => this.facts.lost ?? 0,
    );
    gauge(
      name('s_waiting'),
      'samples that wait for a disk or a broker',
      () => this.facts.waiting ?? 0,
    );
  }

  /** Takes a record group, with its header where there is one. */
  write(bytes: Uint8Array, facts: SampleFacts): void {
    this.facts = facts;
    this.samples++;
    this.parser.push(bytes);
  }

  private get host(): string {
    return this.facts.host;
  }

  metrics(): Promise<string> {
    for (const { schema } of this.types.values()) {
      for (const [k, key] of schema.keys.entries()) this.declare(schema, key, k);
    }
    return this.registry.metrics();
  }

  private declare({ type }: RawSchema, key: RawSchema['keys'][number], k: number): void {
    const { name, factor, isCounter } = seriesFor(type, key);
    if (this.made.has(name)) return;
    this.made.add(name);
    const options = {
      name,
      help: this.help(type, key.name) || `${key.name} of the type ${type}`,
      labelNames: ['host', 'device'],
      registers: [this.registry],
    };
    const each = (put: (labels: { host: string; device: string }, value: number) => void) => {
      for (const [device, values] of this.types.get(type)?.devices ?? []) {
        put({ host: this.host, device }, Number(values[k]) * factor);
      }
    };
    if (isCounter) {
      new Counter({
        ...options,
        collect() {
          this.reset();
          each((labels, value) => this.inc(labels, value));
        },
      });
    } else {
      new Gauge({
        ...options,
        collect() {
          this.reset();
          each((labels, value) => this.set(labels, value));
        },
      });
    }
  }
}
