/**
 * A head and columns of f32 as bytes: u32 length of the JSON that follows, padded to 4; the columns one after another,
 * their names and lengths in the head's `packed`. Little endian. Runs in the server and in the page.
 */

const WORD = 4;

interface Packed {
  readonly packed: readonly (readonly [name: string, length: number])[];
}

export function pack(
  head: object,
  columns: Readonly<Record<string, Float32Array>>,
): Uint8Array<ArrayBuffer> {
  const all = Object.entries(columns);
  const lengths = all.map(([name, { length }]) => [name, length]);
  let json = JSON.stringify({ ...head, packed: lengths });
  const encoder = new TextEncoder();
  json += ' '.repeat((WORD - (encoder.encode(json).length % WORD)) % WORD);
  const text = encoder.encode(json);
  const words = all.reduce((sum, [, { length }]) => sum + length, 0);
  const bytes = new Uint8Array(WORD + text.length + words * WORD);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, WORD);
  // Machines that Node and browsers run on are little endian.
  const values = new Float32Array(bytes.buffer, WORD + text.length);
  let at = 0;
  for (const [, column] of all) {
    values.set(column, at);
    at += column.length;
  }
  return bytes;
}

/** What `pack` packed: the head's fields, and each column under its name. */
export function unpack<T>(bytes: ArrayBuffer): T {
  const length = new DataView(bytes).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(bytes, WORD, length));
  const { packed, ...head } = JSON.parse(text) as Packed & object;
  let at = WORD + length;
  const made: Record<string, Float32Array> = {};
  for (const [name, count] of packed) {
    made[name] = new Float32Array(bytes, at, count);
    at += count * WORD;
  }
  return { ...head, ...made } as T;
}
