/** A whole file, told line by line as it stands there. */
import { openFile } from 'triscope/formats';
import { blocksOf, RawParser, type RawSummary, type RawVisitor } from 'triscope/formats/tacc';

export function visitRaw(path: string, visitor: RawVisitor): RawSummary {
  const source = openFile(path);
  const parser = new RawParser(visitor);
  try {
    for (const block of blocksOf(source)) parser.push(block);
  } finally {
    source.close();
  }
  return parser.end();
}
