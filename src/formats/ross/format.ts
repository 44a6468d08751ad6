/** ROSS's instrumentation files of every era as one format. */
import {
  type Damage,
  type Detection,
  type FileSource,
  type Format,
  FormatError,
  type PassOptions,
  type ScanOptions,
} from '../format.ts';
import type { OpenFile, TakeRows } from '../part.ts';
import { type PayloadField, payloadLayout } from '../payload.ts';
import { isSalvaged } from '../records.ts';
import { BlockReader } from './read/blocks.ts';
import { detectRoss, HEAD_BYTES, type RossDetection } from './read/detect.ts';
import { RossPart } from './read/part.ts';
import { plansFor } from './read/plan.ts';
import { RossRecords } from './read/records.ts';
import { RossSurvey } from './read/survey.ts';
import type { Told } from './read/told.ts';

const known = new WeakMap<FileSource, RossDetection>();

function detected(source: FileSource, options: ScanOptions): RossDetection {
  const told = options.given !== undefined || options.payload !== undefined;
  const cached = told ? undefined : known.get(source);
  if (cached !== undefined) return cached;
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const bytes = head.subarray(0, source.read(0, head));
  const detection = detectRoss(bytes, source, told ? options : undefined);
  if (detection === null) {
    throw new FormatError({
      path: source.path,
      offset: -1,
      what: 'expected a file of ROSS’s instrumentation, but the content does not make sense as one',
      skipped: 0,
    });
  }
  if (!told) known.set(source, detection);
  return detection;
}

/** The fields of the model's bytes, if all LPs have the same. */
function fieldsOf({ model }: Told): readonly PayloadField[] | null {
  const [first] = model?.types ?? [];
  const text = JSON.stringify(first?.fields);
  const same = model?.types.every(({ fields }) => JSON.stringify(fields) === text);
  return same ? (first?.fields ?? null) : null;
}

function open(source: FileSource, options: PassOptions = {}): OpenFile {
  const detection = detected(source, options);
  const { layout, mode, told, doubt } = detection;
  const survey = new RossSurvey(detection);
  const info = () => survey.info(source);
  if (doubt !== null) {
    const what = `${doubt.what}; ${doubt.mend}`;
    const damage = { path: source.path, offset: -1, what, skipped: 0 };
    if (options.records !== undefined) throw new FormatError(damage);
    survey.damaged(damage);
    return { parts: [], suspect: info().suspect, zero: null, info };
  }
  const fields = fieldsOf(told);
  const payload = fields && payloadLayout(fields);
  const all = layout.kinds
    .flatMap((_, kind) => plansFor(layout, kind, mode, payload))
    .map((plan) => new RossPart(source, layout, plan, options.keep));
  const onDamage = (damage: Damage) => {
    survey.damaged(damage);
    options.damage?.(damage);
  };
  const salvage = isSalvaged(options);
  const reader = new BlockReader(source, layout, { ...options, salvage, onDamage });
  const records = new RossRecords(layout, told.model);
  const pass = (take: TakeRows | null): void => {
    for (const block of reader.blocks()) {
      if (options.records !== undefined) {
        // Printing records does not need tables, which would take as long again.
        options.records(records.load(block));
        continue;
      }
      survey.add(block);
      for (const part of all) part.see(block, take && ((rows) => take(part, rows)));
    }
  };
  pass(options.take ?? null);
  return {
    get parts() {
      return all.filter(({ rows }) => rows > 0);
    },
    get suspect() {
      return info().suspect;
    },
    zero: null,
    info,
    grow(take) {
      if (source.refresh() === reader.end) return;
      if (reader.hasRest) survey.retract();
      reader.resume();
      pass(take);
    },
  };
}

/** Binary files of ROSS, of all eras. */
export const ROSS = {
  name: 'ross',
  help: 'ROSS: samples of PEs, KPs, LPs and models, and event traces, of December 2016 to today',
  detect: (head: Uint8Array, source: FileSource): Detection | null => {
    const detection = detectRoss(head, source);
    if (detection !== null) known.set(source, detection);
    return detection;
  },
  open,
  records: true,
} satisfies Format;
