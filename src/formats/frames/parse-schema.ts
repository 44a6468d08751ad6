/** Parses the schema in a definition frame, which may come from anywhere. */
import type { Schema } from '../../model/metric.ts';
import { SchemaError, schemaFrom } from '../../model/schema-check.ts';

/** @throws Error that says what is wrong with the text */
export function parseSchema(text: string): Schema {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the schema definition is not JSON');
  }
  try {
    return schemaFrom(value);
  } catch (error) {
    throw error instanceof SchemaError
      ? new Error(`the schema definition ${error.message}`)
      : error;
  }
}
