/** The kinds of suspect spots in raw stats files: for counts, lists and docs. */

/** Kinds whose line is left out. */
export const LOST = {
  unknown_type: 'a record of a type that no schema describes',
  bare_text: 'a line of text after a mark: the original prints marks of several lines in this way',
  value_count: 'a record with more or fewer values than its schema has keys',
  not_a_number: 'a record with a value that is no whole number from 0 to 2^64 - 1',
  no_device: 'a record without a device',
  before_time: 'a record or a mark before the first time',
  time_line: 'a line that begins with a digit and is not a time with jobs',
  schema: 'a schema line that cannot be read',
  not_text: 'a line with bytes that no text has',
  long_line: 'a line of more than 16 MB',
  cut: 'a last line without its newline, which may have been cut',
  unreadable: 'the rest of a file that cannot be read, such as damaged gzip',
} as const;

/** Kinds that lose nothing: all that was read was delivered. */
export const KEPT = {
  no_header: 'records before any $ line',
  schema_option: 'an option of a key that is empty or not known',
  schema_change: 'a type that is described again with other keys',
  same_time: 'a time that was there before',
  backward_time: 'a time before the last one',
  repeated_device: 'a device that comes twice in a group',
  other_host: 'a group or header of another host than before',
  foreign_file: 'a file in the folder of another host',
  reboot: 'the host was started again within the file',
  blank_lines: 'several blank lines where one is written',
  carriage_return: 'a line that ends with a carriage return',
  comment: 'a line that begins with #',
  devices: 'a line that begins with @, which no version wrote',
} as const;

/** What may be suspect about a line; some kinds lose the line, others do not. */
export type OddityKind = keyof typeof LOST | keyof typeof KEPT;

/** What each kind means. */
export const ODDITIES: Readonly<Record<OddityKind, string>> = { ...LOST, ...KEPT };
