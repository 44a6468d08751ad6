/** `--layout`: what a user says of files that do not describe themselves. */
import type { ScanOptions } from '../formats/format.ts';
import { checkGiven } from '../formats/model-bytes.ts';
import { PayloadLayoutError } from '../formats/payload.ts';
import { isRossLayout } from '../formats/ross/write/layout.ts';
import { text } from '../model/option.ts';
import { readPlain, readReason } from '../os/plain-file.ts';

export const LAYOUT = text(
  '',
  'what ROSS’s files of 2017 are, where nothing beside them says it: ross-2017, ross-2017-04; or a file that says how to decode the bytes of models: JSON such as [{"name": "lp", "type": "u32", "count": 1}], types u8 u16 u32 i32 u64 f32 f64; or how many they are, which files of 2017 do not say: {"bytes": 4}, or by type of LP {"lps": "router*4,terminal*16", "types": {"router": 168, "terminal": 40}}, where a type may be a list of fields, and lp-mapping.txt may say which LP has which',
  { placeholder: 'NAME|FILE', names: 'input' },
);

/** @throws PayloadLayoutError that names the file and what is wrong with it */
export function givenLayout(value: string | undefined): ScanOptions {
  if (value === undefined) return {};
  if (isRossLayout(value)) return { given: { layout: value, types: [], lps: null, exact: true } };
  let content: unknown;
  try {
    content = JSON.parse(readPlain(value));
  } catch (error) {
    throw new PayloadLayoutError(`${value}: ${readReason(error)}`);
  }
  return { given: checkGiven(content, value) };
}
