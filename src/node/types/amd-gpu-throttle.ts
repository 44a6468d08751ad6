/**
 * What holds the clock of AMD GPUs down, from the table that their driver gives as `gpu_metrics`. Never run on hardware.
 * `amd_gpu_state`: tables that tell the reasons of the moment by bits (MI200, Radeon, APUs). `amd_gpu_throttle`: tables
 * that count how long each reason held (MI300). Tables of other layouts, such as the dynamic one of newest drivers, give no
 * record. Sources: Linux, drivers/gpu/drm/amd/include/kgd_pp_interface.h (layouts) and
 * drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h (SMU_THROTTLER_*_BIT).
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/class/drm';

/** By layout, as `format.content`: byte at which the reasons' bits begin, 8 bytes of them. */
const BITS_AT: ReadonlyMap<string, number> = new Map([
  ['1.3', 112],
  ['2.2', 120],
  ['2.3', 120],
  ['2.4', 120],
]);
/** By layout: byte at which the counters begin, 4 bytes each. */
const COUNTERS_AT: ReadonlyMap<string, number> = new Map([
  ['1.6', 32],
  ['1.7', 40],
  ['1.8', 40],
]);

/** Bits, from and to: power limits; temperatures, with those that other parts signal; limits of current and the like. */
const POWER = [[0, 15]] as const;
const HEAT = [[32, 55]] as const;
const HARDWARE = [
  [16, 31],
  [56, 63],
] as const;
const REASONS = [
  { metric: gauge('held_by_power', '1 while a power limit holds the clock down'), bits: POWER },
  { metric: gauge('held_by_heat', '1 while a temperature holds the clock down'), bits: HEAT },
  {
    metric: gauge('held_by_hardware', '1 while a limit of current holds the clock down'),
    bits: HARDWARE,
  },
];
const maskOf = (ranges: readonly (readonly [number, number])[]) =>
  ranges.reduce(
    (mask, [from, to]) => mask | (((1n << BigInt(to - from + 1)) - 1n) << BigInt(from)),
    0n,
  );
const MASKS = REASONS.map(({ bits }) => maskOf(bits));

const WIDTH = 32;
const TIMES = [
  counter('ticks', 'turns of the firmware’s control, of which those below are a part', '', WIDTH),
  counter(
    'by_signal',
    'turns in which a signal from outside (PROCHOT) held the clock down',
    '',
    WIDTH,
  ),
  counter('by_power', 'turns in which the power limit held the clock down', '', WIDTH),
  counter('by_socket_heat', 'turns in which the temperature of the socket did', '', WIDTH),
  counter(
    'by_regulator_heat',
    'turns in which the temperature of voltage regulators did',
    '',
    WIDTH,
  ),
  counter('by_memory_heat', 'turns in which the temperature of memory did', '', WIDTH),
];

/** The values of a table; null where it is of another layout, or the driver does not tell them (all bits set). */
type Values = (table: Buffer) => readonly number[] | null;

/** Where something is in a table; -1 where the table is cut, or of another layout. Its header: size, format, content. */
function placeIn(table: Buffer, places: ReadonlyMap<string, number>, length: number): number {
  if (table.length < 4 || table.readUInt16LE(0) > table.length) return -1;
  const at = places.get(`${table[2]}.${table[3]}`) ?? -1;
  return at + length > table.readUInt16LE(0) ? -1 : at;
}

const reasonsIn: Values = (table) => {
  const at = placeIn(table, BITS_AT, 8);
  const bits = at < 0 ? null : table.readBigUInt64LE(at);
  if (bits === null || bits === 2n ** 64n - 1n) return null;
  return MASKS.map((mask) => Number((bits & mask) !== 0n));
};

const timesIn: Values = (table) => {
  const at = placeIn(table, COUNTERS_AT, 4 * TIMES.length);
  if (at < 0) return null;
  const values = TIMES.map((_, k) => table.readUInt32LE(at + 4 * k));
  return values.includes(2 ** 32 - 1) ? null : values;
};

function opened(tree: NodeTree, name: string, valuesIn: Values, what: string): Collector {
  const list = () => tree.devices(FOLDER);
  const device = (card: string): Device | null => {
    const path = `${FOLDER}/${card}/device/gpu_metrics`;
    if (!/^card\d+$/.test(card) || tree.text(path) === null) return null;
    const file = tree.open(path);
    const values = () => valuesIn(file.bytes.subarray(0, file.readPiece()));
    if (values() === null) {
      file.close();
      return null;
    }
    const write = (writer: RawWriter) => {
      const now = values();
      if (now === null) return;
      writer.record(name, card.slice('card'.length));
      for (const value of now) writer.number(value);
      writer.endRecord(now.length);
    };
    return { write, close: () => file.close() };
  };
  const found = (list() ?? []).some((card) => {
    const one = device(card);
    one?.close();
    return one !== null;
  });
  if (!found) throw new UnavailableError(`no GPU with the driver amdgpu that ${what}`);
  return new Devices(`/${FOLDER}`, list, device);
}

const COMMON = { device: 'number of the card', source: '/sys/class/drm/cardN/device/gpu_metrics' };

export const AMD_GPU_THROTTLES: readonly NodeType[] = [
  {
    ...COMMON,
    name: 'amd_gpu_state',
    help: 'AMD GPUs (MI200, Radeon): what holds their clock down',
    metrics: REASONS.map(({ metric }) => metric),
    open: (tree) => opened(tree, 'amd_gpu_state', reasonsIn, 'says what holds its clock down'),
  },
  {
    ...COMMON,
    name: 'amd_gpu_throttle',
    help: 'AMD GPUs (MI300): how long what held their clock down',
    metrics: TIMES,
    open: (tree) => opened(tree, 'amd_gpu_throttle', timesIn, 'counts what holds its clock down'),
  },
];
