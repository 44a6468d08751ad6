/** What `info` prints about a file: counts, spans, entities, and suspect spots. */
import type { Damage, FileInfo, FileSource, Instant } from '../../format.ts';
import { type Block, KIND_NAMES, KINDS, KP, LP, PE, WIDE_LP } from './chunk.ts';
import type { RossDetection } from './detect.ts';
import { readCell } from './gather.ts';
import type { FieldAt } from './layouts.ts';

/** Most distinct ids that are counted; if a file has more, the output says so. */
const MOST_IDS = 1 << 20;
const MOST_SIZES = 64;
const MOST_DAMAGE = 100;
/** A last sample's GVT is the largest double, or infinite if it is kept in 32 bits. */
const NEVER = 1.7e308;

/** Kinds of samples of the engine. */
const SAMPLES: ReadonlySet<number> = new Set([PE, KP, LP, WIDE_LP]);

interface Suspicion {
  count: number;
  first: number;
}

class Span {
  low = Number.POSITIVE_INFINITY;
  high = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }
}

type Reader = (block: Block, n: number) => number;

/** Readers of the fields of one kind that the survey examines; null if the kind has none. */
interface KindReaders {
  readonly [key: string]: Reader | null;
}

const LOOKED_AT = [
  'virtual_time',
  'virtual_recv_time',
  'real_time',
  'pe_id',
  'kp_id',
  'lp_id',
  'source_lp',
  'destination_lp',
  'efficiency',
  'events_processed',
  'events_rolled_back',
];

function readerOf(kind: number, field: FieldAt | undefined): Reader | null {
  if (field === undefined) return null;
  const { at, cell, from } = field;
  return ({ of, chunk: { view, little } }, n) => {
    const index = of[kind];
    if (from === 'kp' || from === 'lp' || from === 'size') return index[from][n];
    const place = from === 'part' ? index.part[n] : index.record[n];
    return readCell(view, place + at, cell, little);
  };
}

export class RossSurvey {
  private readonly counts = new Array<number>(KINDS).fill(0);
  private readonly pes = new Map<number, number>();
  private readonly kps = new Set<number>();
  private readonly lps = new Set<number>();
  /** By kind and PE: in a block kinds are looked at one after the other. */
  private readonly lastGvt = new Map<number, number>();
  /** By PE: the real time of its final sample. */
  private readonly finals = new Map<number, number>();
  private readonly sizes = new Map<number, number>();
  private readonly virtual = new Span();
  private readonly real = new Span();
  private readonly suspicions = new Map<string, Suspicion>();
  private readonly damage: Damage[] = [];
  private damages = 0;
  private readonly readers: readonly (KindReaders | null)[];
  private readonly detection: RossDetection;

  constructor(detection: RossDetection) {
    this.detection = detection;
    this.readers = detection.layout.kinds.map((layout, kind) => {
      if (layout === null) return null;
      const field = (key: string) => layout.fields.find((f) => f.key === key);
      return Object.fromEntries(LOOKED_AT.map((key) => [key, readerOf(kind, field(key))]));
    });
  }

  private suspect(what: string, offset: number): void {
    const known = this.suspicions.get(what);
    if (known === undefined) this.suspicions.set(what, { count: 1, first: offset });
    else known.count++;
  }

  damaged(damage: Damage): void {
    this.damages++;
    if (this.damage.length < MOST_DAMAGE) this.damage.push(damage);
  }

  /** Takes the last damage back: the file goes on there. */
  retract(): void {
    if (this.damages-- <= this.damage.length) this.damage.pop();
  }

  add(block: Block): void {
    for (let kind = 0; kind < KINDS; kind++) {
      const { count } = block.of[kind];
      if (count === 0) continue;
      this.counts[kind] += count;
      const readers = this.readers[kind];
      if (readers === null) continue;
      for (let n = 0; n < count; n++) this.look(block, kind, n, readers);
      if (this.detection.layout.kinds[kind]?.head !== undefined) this.countSizes(block, kind);
    }
  }

  private countSizes(block: Block, kind: number): void {
    const { count, size } = block.of[kind];
    for (let n = 0; n < count; n++) {
      const known = this.sizes.get(size[n]);
      if (known !== undefined || this.sizes.size < MOST_SIZES) {
        this.sizes.set(size[n], (known ?? 0) + 1);
      }
    }
  }

  private look(block: Block, kind: number, n: number, r: KindReaders): void {
    const offset = block.chunk.position + block.of[kind].record[n];
    const virtual = (r.virtual_time ?? r.virtual_recv_time)?.(block, n);
    const real = r.real_time?.(block, n);
    if (real !== undefined) this.real.add(real);
    const pe = r.pe_id?.(block, n);
    if (virtual !== undefined) {
      if (virtual < NEVER) this.virtual.add(virtual);
      else if (!(SAMPLES.has(kind) && this.isFinal(pe, real))) {
        this.suspect('virtual time is beyond all: sampled after the last GVT', offset);
      }
    }
    if (pe !== undefined) this.lookAtPe(kind, pe, virtual, offset);
    const kp = r.kp_id?.(block, n);
    if (kp !== undefined && this.kps.size < MOST_IDS) this.kps.add((pe ?? 0) * 2 ** 24 + kp);
    for (const key of ['lp_id', 'source_lp', 'destination_lp']) {
      const lp = r[key]?.(block, n);
      if (lp !== undefined && this.lps.size < MOST_IDS) this.lps.add(lp);
    }
    if (r.efficiency && r.events_processed && r.events_rolled_back) {
      const processed = r.events_processed(block, n);
      this.lookAtEfficiency(
        r.efficiency(block, n),
        processed - r.events_rolled_back(block, n),
        processed,
        offset,
      );
    }
  }

  /**
   * Whether it belongs to the sample that ROSS takes of each PE when the run has ended, in real time, so that sums are
   * complete. Source: st_inst_finalize.
   */
  private isFinal(pe: number | undefined, real: number | undefined): boolean {
    const { mode } = this.detection;
    if (mode === 'gvt' || mode === 'vt' || pe === undefined || real === undefined) return false;
    const known = this.finals.get(pe);
    if (known === undefined && this.finals.size < MOST_IDS) this.finals.set(pe, real);
    return known === undefined || known === real;
  }

  private lookAtPe(kind: number, pe: number, virtual: number | undefined, offset: number): void {
    if (kind === PE) {
      const known = this.pes.get(pe);
      if (known !== undefined || this.pes.size < MOST_IDS) this.pes.set(pe, (known ?? 0) + 1);
    } else if (!this.pes.has(pe) && this.pes.size < MOST_IDS) this.pes.set(pe, 0);
    if (virtual === undefined || !SAMPLES.has(kind)) return;
    const key = kind * 2 ** 24 + pe;
    if (virtual < (this.lastGvt.get(key) ?? 0)) {
      this.suspect('GVT falls from one sample of a PE to the next', offset);
    }
    if (this.lastGvt.size < MOST_IDS) this.lastGvt.set(key, virtual);
  }

  /** Efficiency follows from the counters, so a flipped bit in either shows. */
  private lookAtEfficiency(
    efficiency: number,
    net: number,
    processed: number,
    offset: number,
  ): void {
    if (!Number.isFinite(efficiency)) {
      this.suspect('efficiency is no finite number: net events were 0', offset);
      return;
    }
    const expected = net > 0 ? 100 * (1 - (processed - net) / net) : 0;
    if (Math.abs(expected - efficiency) > 1e-3 * Math.max(1, Math.abs(expected))) {
      this.suspect('efficiency does not follow from events processed and rolled back', offset);
    }
  }

  private instant(pick: (span: Span) => number): Instant | null {
    const virtual = pick(this.virtual);
    const real = pick(this.real);
    const instant = {
      ...(Number.isFinite(virtual) && { virtual_time: virtual }),
      ...(Number.isFinite(real) && { real_time: real }),
    };
    return Object.keys(instant).length === 0 ? null : instant;
  }

  private suspectList(): FileInfo['suspect'] {
    const list = [...this.suspicions].map(([what, { count, first }]) => ({
      where: `byte ${first}`,
      what: count === 1 ? what : `${what} (${count} records, the first here)`,
    }));
    for (const { offset, what, skipped } of this.damage) {
      const after = skipped > 0 ? `; ${skipped} bytes passed over` : '';
      list.push({ where: offset < 0 ? 'file' : `byte ${offset}`, what: `${what}${after}` });
    }
    const more = this.damages - this.damage.length;
    if (more > 0) list.push({ where: 'further on', what: `${more} more damaged places` });
    return list;
  }

  /** Records by kind, under the names that users know. */
  private records(): Record<string, number> {
    const records: Record<string, number> = {};
    this.counts.forEach((count, kind) => {
      if (count === 0) return;
      records[KIND_NAMES[kind]] = (records[KIND_NAMES[kind]] ?? 0) + count;
    });
    return records;
  }

  private era(): string {
    const { era } = this.detection;
    const narrow = this.counts[LP] > 0;
    const wide = this.counts[WIDE_LP] > 0;
    if (narrow === wide) return era;
    return era.replace(/v7\.0 or later|v7\.0 to v8\.0|v8\.1 or later/, () =>
      narrow ? 'v7.0 to v8.0' : 'v8.1 or later',
    );
  }

  info(source: FileSource): FileInfo {
    const {
      told: { facts },
      layout,
      mode,
      because,
    } = this.detection;
    const samples = [...this.pes].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
    const sizes = [...this.sizes].sort(([a], [b]) => a - b);
    const entities = { pes: this.pes.size, kps: this.kps.size, lps: this.lps.size };
    return {
      path: source.path,
      format: 'ross',
      era: this.era(),
      because,
      bytes: source.size,
      records: this.records(),
      entities: Object.fromEntries(Object.entries(entities).filter(([, count]) => count > 0)),
      from: this.instant((span) => span.low),
      to: this.instant((span) => span.high),
      suspect: this.suspectList(),
      damaged: this.damages > 0,
      more: {
        byte_order: layout.little ? 'little' : 'big',
        ...(mode !== null && { mode }),
        ...(samples.length > 0 &&
          samples.length <= 64 && { samples_per_pe: Object.fromEntries(samples) }),
        ...(sizes.length > 0 && { model_bytes: Object.fromEntries(sizes) }),
        ...(facts !== null && {
          run: {
            pes: facts.pes,
            kps_per_pe: facts.kps,
            lps: facts.lps.reduce((a, b) => a + b, 0),
            granularity: facts.granularity,
          },
        }),
      },
    };
  }
}
