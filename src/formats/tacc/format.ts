/** Raw stats files of tacc_stats and hpcperfstats as a format. */
import {
  type Damage,
  type FileSource,
  type Format,
  FormatError,
  type ScanOptions,
  type Visitor,
} from '../format.ts';
import { blocksOf } from './blocks.ts';
import { detectRaw } from './detect.ts';
import { openRaw } from './open.ts';
import { RawParser } from './parser.ts';
import { RawRecords } from './records.ts';
import type { RawProblem } from './visitor.ts';

/**
 * Lines that cannot be used are left out whatever `salvage` says, as by the original's readers; each is told.
 * @throws FormatError where the file ends within a line, or its gzip is damaged
 */
function scan(source: FileSource, visitor: Visitor, options: ScanOptions = {}): void {
  const { path } = source;
  const records = new RawRecords((block) => visitor.records(block));
  let cut: Damage | null = null;
  const problem = ({ kind, line, reason, text }: RawProblem) => {
    const what = text === '' ? reason : `${reason}: ${text}`;
    const damage = { path, offset: -1, line, what, skipped: text.length };
    if (kind === 'cut' && options.salvage !== true) cut = damage;
    else visitor.damage?.(damage);
  };
  const parser = new RawParser({
    property: (name, value) => records.property(name, value),
    group: (group) => records.group(group),
    mark: (text) => records.mark(text),
    record: (schema, device, values, line) => records.record(schema, device, values, line),
    problem,
  });
  try {
    for (const block of blocksOf(source, options.bufferBytes)) {
      parser.push(block);
      if (records.stopped) return;
    }
  } finally {
    // What came before damage is delivered before the damage is reported.
    parser.end();
    records.end();
  }
  if (cut !== null) throw new FormatError(cut);
}

/** Raw stats files of tacc_stats, of all its versions. */
export const TACC = {
  name: 'tacc',
  help: 'raw stats files of tacc_stats and hpcperfstats, plain or gzip',
  detect: (head) => detectRaw(head),
  open: openRaw,
  scan,
} satisfies Format;
