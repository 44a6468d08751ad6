/** Raw stats files, written by us and genuine, plain and packed. */
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { type Base, baseOf, byLine } from './base.ts';
import { goldenFiles } from './golden.ts';
import { readRecords, sourceOf } from './reading.ts';

const group = (k: number) => `
${1000 + k}.5 7 c1
${k === 3 ? '%begin 7\n' : ''}cpu 0 ${k * 1000} 18446744073709551${600 + k}
cpu 1 5 ${k}
ib m/1 0 429496729${k % 10}
mem 0 8000000000
`;

const SAMPLE = `$tacc_stats 2.3.5
$hostname c1
$uptime 100
!cpu user,E,U=cs idle,E,U=cs
!ib rx,E,W=32 tx,E,W=32
!mem MemTotal,U=KB
${Array.from({ length: 10 }, (_, k) => group(k)).join('')}
1010 - c1
1011 - c1
cpu 0 1 2
`;

/** The header, and records behind it up to `most` bytes: genuine headers are long. */
function beginning(bytes: Uint8Array, most: number): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const lines = text.split('\n');
  const types = new Set<string>();
  let kept = '';
  for (const line of lines) {
    if (kept.length > most) break;
    const type = line.split(' ')[0];
    const isHeader = type.startsWith('!');
    // A few types of those there are.
    if (isHeader && types.size < 4) types.add(type.slice(1));
    else if (isHeader || (/^[a-z]/.test(line) && !types.has(type))) continue;
    kept += `${line}\n`;
  }
  return Buffer.from(kept, 'latin1');
}

function texts(): { name: string; bytes: Uint8Array }[] {
  const genuine = goldenFiles('tacc_stats', /\/\d+(\.gz)?$/).map(({ name, bytes }) => ({
    name: name.replace(/\.gz$/, ''),
    bytes: beginning(name.endsWith('.gz') ? gunzipSync(bytes) : bytes, 1600),
  }));
  return [{ name: 'c1/1000', bytes: Buffer.from(SAMPLE) }, ...genuine];
}

const OPTIONS = { text: true, ends: byLine, most: 1 << 20 };

export const taccBases = (): Base[] =>
  texts().map(({ name, bytes }) => baseOf(name, bytes, OPTIONS));

/** Records of packed files are complete once the bytes that unpack to them are there. */
export const packedBases = (): Base[] =>
  texts().map(({ name, bytes }) => {
    const packed = gzipSync(bytes);
    const plain = baseOf(name, bytes, OPTIONS);
    const { records } = readRecords(sourceOf(`${name}.gz`, packed, {}), false);
    const unpacked = Array.from({ length: packed.length + 1 }, (_, length) => {
      if (length < 18) return 0;
      return gunzipSync(packed.subarray(0, length), { finishFlush: constants.Z_SYNC_FLUSH }).length;
    });
    const ends = plain.ends.map((end) => unpacked.findIndex((length) => length >= end));
    return {
      ...plain,
      name: `${name}.gz`,
      bytes: new Uint8Array(packed),
      text: false,
      records,
      ends,
      places: [],
    };
  });
