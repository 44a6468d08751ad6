/** `triscope read PATH…`: files decoded to rows. */
import { filesOf } from '../../formats/files.ts';
import type { Damage, Format, RecordBlock, RecordKind, ScanOptions } from '../../formats/format.ts';
import { scanRecords } from '../../formats/records.ts';
import { identifyOrFail } from '../../formats/registry.ts';
import { openFile } from '../../formats/source.ts';
import { choice, flag, float } from '../../model/option.ts';
import { breath } from '../../os/breath.ts';
import { type Call, command, FILES, type Given } from '../command.ts';
import { QUOTE_FORMULAS } from '../csv.ts';
import { EXIT, report } from '../errors.ts';
import { EventBins } from '../event-bins.ts';
import { givenLayout, LAYOUT } from '../given-layout.ts';
import { Output } from '../output.ts';
import { READER_NAMES } from '../reader-names.ts';
import { CsvFilter, FILTER_OPTIONS } from '../record-filter.ts';
import { CsvPrinter, JsonPrinter, type Printer, TextPrinter } from '../record-printers.ts';

const FORMATS = ['text', 'json', 'csv'] as const;

const OPTIONS = {
  format: choice(FORMATS, 'text', 'output format; json is one object per line, csv one table'),
  json: flag(false, 'the same as --format=json'),
  csv: flag(false, 'the same as --format=csv'),
  'quote-formulas': QUOTE_FORMULAS,
  names: choice(
    ['triscope', 'reader'],
    'triscope',
    'names of CSV columns: Triscope’s, or those of ross-binary-reader',
  ),
  ...FILTER_OPTIONS,
  layout: LAYOUT,
  salvage: flag(
    false,
    'skip damage, continue at the next plausible record, and say what was skipped',
  ),
  bin: float(0, 'count events by source, destination and interval of virtual time instead', {
    min: Number.MIN_VALUE,
    placeholder: 'WIDTH',
    fallback: '',
  }),
};
type ReadOptions = Given<typeof OPTIONS>;

function formatOf(options: ReadOptions): (typeof FORMATS)[number] {
  const short = options.json ? 'json' : options.csv ? 'csv' : 'text';
  return options.format ?? short;
}

const scanOptions = (options: ReadOptions): ScanOptions => ({
  salvage: options.salvage === true,
  ...givenLayout(options.layout),
});

/** Calls `scan` with a file's format. */
function withFile<T>(
  path: string,
  scan: (format: Format, source: ReturnType<typeof openFile>) => T,
): T {
  const source = openFile(path);
  try {
    return scan(identifyOrFail(source).format, source);
  } finally {
    source.close();
  }
}

/** The kinds of records in files, in the order in which they appear. Damage ends the search, quietly. */
function kindsIn(files: readonly string[], options: ScanOptions): RecordKind[] {
  const kinds = new Map<string, RecordKind>();
  const records = (block: RecordBlock): undefined => {
    for (let k = 0; k < block.length; k++) {
      const kind = block.kind(k);
      const key = `${kind.name} ${kind.keys.join()}`;
      if (!kinds.has(key)) kinds.set(key, kind);
    }
  };
  for (const path of files) {
    try {
      withFile(path, (format, source) => scanRecords(format, source, { records }, options));
    } catch {
      // It is reported when the file is read.
    }
  }
  return [...kinds.values()];
}

function printerFor(
  format: string,
  files: readonly string[],
  scan: ScanOptions,
  options: ReadOptions,
): Printer {
  if (format === 'json') return new JsonPrinter();
  if (format === 'text') return new TextPrinter();
  const names = options.names;
  const wanted = options.kind?.split(',');
  const kinds = kindsIn(files, scan).filter(({ name }) => wanted?.includes(name) !== false);
  const rename = (key: string) =>
    names === 'reader' && Object.hasOwn(READER_NAMES, key) ? READER_NAMES[key] : key;
  return new CsvPrinter(kinds, rename, options['quote-formulas'] ? 'quote' : 'keep');
}

function printBins(bins: EventBins, format: string, out: Output): void {
  if (format === 'csv') out.write('source_lp,destination_lp,bin_start,events\n');
  for (const bin of bins.bins()) {
    if (out.closed) return;
    if (format === 'json') out.write(`${JSON.stringify(bin)}\n`);
    else {
      const values = [bin.source_lp, bin.destination_lp, bin.bin_start, bin.events];
      const [source, destination, start, events] = values;
      out.write(
        format === 'csv'
          ? `${values.join(',')}\n`
          : `source_lp=${source} destination_lp=${destination} bin_start=${start} events=${events}\n`,
      );
    }
  }
}

/** Places told of each file: a file of another kind may have one in each line. */
const MOST_TOLD = 20;

/** Reports skipped and doubtful places: of each file the first ones, their number, and the last one, where the file may end. */
class SkippedReport {
  private path = '';
  private count = 0;
  private last = '';

  readonly add = ({ path, offset, line, what, skipped, kept }: Damage): void => {
    if (path !== this.path) this.end();
    this.path = path;
    const place = line === undefined ? `byte ${offset}` : `line ${line}`;
    const lost = line === undefined ? `skipped ${skipped} bytes` : 'left out';
    const text = `triscope: ${path}: ${place}: ${what}${kept ? '' : `; ${lost}`}\n`;
    if (++this.count > MOST_TOLD) this.last = text;
    else process.stderr.write(text);
  };

  end(): void {
    const more = this.count - MOST_TOLD - 1;
    if (more > 0) process.stderr.write(`triscope: ${this.path}: ${more} more places like this\n`);
    if (more >= 0) process.stderr.write(this.last);
    this.count = 0;
  }
}

/** Prints the files' rows. Returns the exit code. @throws UsageError, FormatError for paths that are not there */
async function run({ words, given: options }: Call<typeof OPTIONS, null>): Promise<number> {
  const format = formatOf(options);
  const filter = new CsvFilter(options);
  const width = options.bin;
  const scan = scanOptions(options);
  const files = filesOf(words);
  const out = new Output();
  const bins = width === undefined ? null : new EventBins(width);
  const printer = bins === null ? printerFor(format, files, scan, options) : null;
  if (printer !== null) out.write(printer.head());
  let passed = 0;
  const records = (block: RecordBlock): boolean => {
    for (let k = 0; k < block.length; k++) {
      if (!filter.passes(block, k)) continue;
      passed++;
      if (printer !== null) out.write(printer.line(block, k));
      else bins?.add(block, k);
    }
    return !out.closed;
  };
  const skipped = new SkippedReport();
  let code = 0;
  for (const path of files) {
    await breath();
    if (out.closed) return 0;
    try {
      withFile(path, (of, source) =>
        scanRecords(of, source, { records, damage: skipped.add }, scan),
      );
    } catch (error) {
      out.flush();
      const failed = report(error);
      code = failed === EXIT.input || code === 0 ? failed : code;
    }
  }
  skipped.end();
  if (passed === 0) for (const note of filter.notes) process.stderr.write(`triscope: ${note}\n`);
  if (bins !== null) printBins(bins, format, out);
  out.flush();
  return code;
}

export const read = command({
  about:
    'Decodes files to rows, in file order. The content determines the format. PATH is a file or a folder.',
  arguments: [FILES],
  options: OPTIONS,
  examples: [
    'read run.tri/stats-output --format csv',
    'read run.tri/stats-output --kind=pe --pe=0',
  ],
  run,
});
