/** What a GEOPM report holds. The writer and the reader share these types. Source: geopm_report(7). */

/** Numbers are printed as `%g`. Texts are quoted, or plain if YAML reads them back unchanged. */
export type ReportValue = number | string;

/** Keys with units, such as `sync-runtime (s)`, in the order in which they are printed. */
export type ReportFields = ReadonlyMap<string, ReportValue>;

/** A line that an agent adds to the header or to a host: a value, or a mapping printed on one line. */
export type AgentFields = ReadonlyMap<string, ReportValue | ReportFields>;

export interface ReportRegion {
  readonly name: string;
  /** 32 bits: the CRC-32 of the name in reports of 3.1 and later, CRC-32C in older ones. */
  readonly hash: number;
  readonly fields: ReportFields;
}

/** Nested values of a section that GEOPM does not know. */
export type ExtraValue =
  | ReportValue
  | boolean
  | readonly ExtraValue[]
  | { readonly [key: string]: ExtraValue };

export interface HostReport {
  readonly name: string;
  readonly agent?: AgentFields;
  /** In the order in which they are printed: by runtime, longest first. */
  readonly regions: readonly ReportRegion[];
  /** Missing if no region was seen. */
  readonly unmarked?: ReportFields;
  /** Missing if no epoch was seen. */
  readonly epoch?: ReportFields;
  readonly application: ReportFields;
  /** Section `Triscope`: each process by itself, the hierarchy of regions, how sampling went. */
  readonly extra?: { readonly [key: string]: ExtraValue };
}

export interface Report {
  /** As in `GEOPM Version`, such as `3.1.0`. */
  readonly version: string;
  readonly startTime: string;
  readonly profile: string;
  readonly agent: string;
  /** JSON of the policy, or `DYNAMIC`. */
  readonly policy: string;
  readonly agentHeader?: AgentFields;
  readonly hosts: readonly HostReport[];
}
