/** The text of the moment, as a registry of prom-client gives it. */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}
