/** What the routes about nodes answer. Types only: the page has them too. */

/** A time series of hosts: a track of `node job`, or a key of a type. */
export interface NodeMetric {
  /** `cpu`; `net.rx_bytes`. */
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** `track`: computed from several keys. `rate`: a counter, as amounts a second. `level`: a gauge. */
  readonly kind: 'track' | 'rate' | 'level';
  /** What a job's track is computed from: `type.key`. */
  readonly inputs?: readonly string[];
}

export interface ShownNodeType {
  readonly type: string;
  readonly keys: readonly { readonly name: string; readonly unit: string; readonly kind: string }[];
  /** Of all hosts. */
  readonly devices: number;
  readonly hosts: number;
}

/** A stretch of time in which a host's numbers are doubtful, on the page's time axis. */
export interface SuspectSpan {
  readonly host: string;
  readonly from: number;
  readonly to: number;
  /** One sentence. */
  readonly what: string;
}

export interface SuspectSpans {
  readonly spans: readonly SuspectSpan[];
}

export interface DevicePageRow {
  readonly host: string;
  /** `all`: the sum over the host's devices. */
  readonly device: string;
  /** By key: counted, as exact digits; of gauges the last value. Null where it has none. */
  readonly totals: readonly (string | null)[];
  /** By key: a second; of gauges null. */
  readonly rates: readonly (number | null)[];
  /** By key, of gauges: least and most. */
  readonly least: readonly (number | null)[];
  readonly most: readonly (number | null)[];
}

export interface DevicePage {
  readonly type: string;
  readonly keys: readonly {
    readonly name: string;
    readonly unit: string;
    readonly kind: 'event' | 'gauge' | 'control';
    /** What it counts, in words; '' where that is not documented. */
    readonly help: string;
    /** Differences that were repaired or are doubtful, by verdict, in words; '' where all are plain. */
    readonly repairs: string;
  }[];
  readonly rows: readonly DevicePageRow[];
  /** Number of rows; more than are sent where the answer was cut. */
  readonly total: number;
}
