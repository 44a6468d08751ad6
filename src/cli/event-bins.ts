/** Events counted by source, destination and stretch of virtual time: ROSS's `ross-binary-reader -c -b`. */
import type { RecordBlock, RecordKind } from '../formats/format.ts';

const KEYS = ['source_lp', 'destination_lp', 'virtual_recv_time'];

interface EventBin {
  readonly source_lp: number;
  readonly destination_lp: number;
  /** Virtual time at which the stretch begins; it lasts the bins' width. */
  readonly bin_start: number;
  readonly events: number;
}

export class EventBins {
  private readonly width: number;
  /** By bin, source, destination. Memory grows with the number of combinations, not with the number of events. */
  private readonly counts = new Map<number, Map<number, Map<number, number>>>();
  private readonly places = new Map<RecordKind, readonly number[] | null>();

  constructor(width: number) {
    this.width = width;
  }

  add(block: RecordBlock, record: number): void {
    const kind = block.kind(record);
    let places = this.places.get(kind);
    if (places === undefined) {
      const found = KEYS.map((key) => kind.keys.indexOf(key));
      places = found.includes(-1) ? null : found;
      this.places.set(kind, places);
    }
    if (places === null) return;
    const [source, destination, time] = places.map((place) => Number(block.cell(record, place)));
    const bin = Math.floor(time / this.width);
    const bySource = entry(this.counts, bin, () => new Map<number, Map<number, number>>());
    const byDestination = entry(bySource, source, () => new Map<number, number>());
    byDestination.set(destination, (byDestination.get(destination) ?? 0) + 1);
  }

  /** In the order of time, source, destination. */
  *bins(): Generator<EventBin> {
    for (const [bin, bySource] of sorted(this.counts)) {
      for (const [source_lp, byDestination] of sorted(bySource)) {
        for (const [destination_lp, events] of sorted(byDestination)) {
          yield { source_lp, destination_lp, bin_start: bin * this.width, events };
        }
      }
    }
  }
}

const sorted = <V>(map: ReadonlyMap<number, V>) => [...map].sort(([a], [b]) => a - b);

function entry<V>(map: Map<number, V>, key: number, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
