/** What we use of `yaml`, which is loaded when a report is first read: that takes 40 ms, and most commands read none. */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

let loaded: typeof Yaml | null = null;

function yaml(): typeof Yaml {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return loaded;
}

export type { LineCounter, Node, YAMLMap } from 'yaml';

export const isMap = (node: unknown): node is Yaml.YAMLMap => yaml().isMap(node);
export const isScalar = (node: unknown): node is Yaml.Scalar => yaml().isScalar(node);
export const isSeq = (node: unknown): node is Yaml.YAMLSeq => yaml().isSeq(node);

export const lineCounter = (): Yaml.LineCounter => new (yaml().LineCounter)();

export const parseAllDocuments = (
  text: string,
  options: Yaml.ParseOptions & Yaml.DocumentOptions & Yaml.SchemaOptions,
): readonly Yaml.Document.Parsed[] => yaml().parseAllDocuments(text, options);
