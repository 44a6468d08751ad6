/** What a GEOPM report holds. Writer and reader share these. Source: geopm_report(7). */

/** Numbers are printed as `%g`; whatever is a text is quoted, or plain where YAML reads it back as that text. */
export type ReportValue = number | string;

/** Keys with units, such as `sync-runtime (s)`, in the order in which they are printed. */
export type ReportFields = ReadonlyMap<string, ReportValue>;

/** A line that an agent adds to the header or to a host: a value, or a mapping printed in one line. */
export type AgentFields = ReadonlyMap<string, ReportValue | ReportFields>;

export interface ReportRegion {
  readonly name: string;
  /** 32 bits; CRC-32 of the name in reports of 3.1 and later, an older CRC-32C before. */
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
  /** In the order printed: by runtime, longest first. */
  readonly regions: readonly ReportRegion[];
  /** Missing where no region was seen. */
  readonly unmarked?: ReportFields;
  /** Missing where no epoch was seen. */
  readonly epoch?: ReportFields;
  readonly application: ReportFields;
  /** Section `Triscope`: what processes did one by one, the regions' hierarchy, how sampling went. */
  readonly extra?: { readonly [key: string]: ExtraValue };
}

export interface Report {
  /** As `GEOPM Version` says it, such as `3.1.0`. */
  readonly version: string;
  readonly startTime: string;
  readonly profile: string;
  readonly agent: string;
  /** JSON of the policy, or `DYNAMIC`. */
  readonly policy: string;
  readonly agentHeader?: AgentFields;
  readonly hosts: readonly HostReport[];
}
