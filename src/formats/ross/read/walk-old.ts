/**
 * Walks over events and models' samples of 2016 and 2017: packed, 64-bit ids, doubles. A model's bytes follow each
 * record; the files do not say how many, so a number is taken that makes sense of the whole beginning of a file.
 */
import { type Block, EVENT, MODEL } from './chunk.ts';
import { at, byKind, type FieldAt, type RossFileLayout, type Walk } from './layouts.ts';
import { isTime, walkOf } from './walk.ts';

/** What follows an event's two LPs and its receive time. */
export interface OldEventForm {
  /** Send time: April 2017 on. */
  readonly send: boolean;
  /** Real time: not in traces of June 2017 of modes 2 and 3, whose records were cut by mistake. */
  readonly real: boolean;
  /** Duration: traces of all events. */
  readonly duration: boolean;
}

export const oldEventHead = ({ send, real, duration }: OldEventForm) =>
  24 + 8 * (Number(send) + Number(real) + Number(duration));

export const OLD_MODEL_HEAD = 28;

/** A walk over records of one size. `fault` says what is wrong with the one at a byte; '' for nothing. */
function fixedWalk(
  kind: number,
  bytes: number,
  payload: number,
  fault: (view: DataView, at: number) => string,
): Walk {
  const take = (block: Block, at: number): number => {
    const { chunk } = block;
    const wrong = chunk.length - at < bytes ? null : fault(chunk.view, at);
    if (wrong === '') {
      block.add(kind, at, payload);
      return bytes;
    }
    if (wrong === null) block.short(bytes);
    else block.bad(wrong);
    return 0;
  };
  return walkOf(take, null);
}

function oldEventFields({ send, real, duration }: OldEventForm): FieldAt[] {
  const realAt = send ? 32 : 24;
  return [
    at('source_lp', 'id64', 0),
    at('destination_lp', 'id64', 8),
    ...(send ? [at('virtual_send_time', 'f64', 24)] : []),
    at('virtual_recv_time', 'f64', 16),
    ...(real ? [at('real_time', 'f64', realAt)] : []),
    ...(duration ? [at('duration', 'f64', realAt + 8)] : []),
    at('model_data_size', 'u32', 0, 'size'),
  ];
}

/** `payload`: bytes of the model behind each event. */
export function oldEventLayout(
  form: OldEventForm,
  payload: number,
  little: boolean,
): RossFileLayout {
  const { send, real, duration } = form;
  const head = oldEventHead(form);
  const high = little ? 4 : 0;
  const realAt = send ? 32 : 24;
  const fault = (view: DataView, at: number): string => {
    if (view.getUint32(at + high, little) !== 0 || view.getUint32(at + 8 + high, little) !== 0) {
      return 'expected an event: an LP id is beyond belief';
    }
    const receive = view.getFloat64(at + 16, little);
    if (!isTime(receive)) return `expected an event: receive time ${receive} is no time`;
    if (send) {
      const sent = view.getFloat64(at + 24, little);
      if (!(sent >= 0 && sent <= receive)) {
        return `expected an event: sent at ${sent} and received at ${receive} is not possible`;
      }
    }
    if (real && !isTime(view.getFloat64(at + realAt, little))) {
      return 'expected an event: real time is no time';
    }
    // Not a number: not measured. ROSS always measures it; we do where each event reads the clock.
    const lasted = duration ? view.getFloat64(at + realAt + 8, little) : 0;
    if (!isTime(lasted) && !Number.isNaN(lasted)) return 'expected an event: duration is no time';
    return '';
  };
  const model = payload > 0 ? ` and ${payload} of the model` : '';
  return {
    era: `ROSS ${send ? '2017-04 to 2017-07' : '2016-12 to 2017-03'}, event trace (${head} bytes${model})`,
    little,
    kinds: byKind({ [EVENT]: { fields: oldEventFields(form), head } }),
    walk: fixedWalk(EVENT, head + payload, payload, fault),
    reset: () => {},
    mostEntries: 1,
    stride: head + payload,
    least: head + payload,
    mode: null,
  };
}

const OLD_MODEL_KINDS = byKind({
  [MODEL]: {
    fields: [
      at('virtual_time', 'f64', 16),
      at('real_time', 'f64', 8),
      at('lp_id', 'id64', 0),
      at('stats_type', 'i32', 24),
      at('model_size', 'u32', 0, 'size'),
    ],
    head: OLD_MODEL_HEAD,
  },
});

/** `lps`: LPs in all; 2^32 where unknown. */
export function oldModelLayout(payload: number, lps: number, little: boolean): RossFileLayout {
  const high = little ? 4 : 0;
  const fault = (view: DataView, at: number): string => {
    const low = view.getUint32(at + 4 - high, little);
    if (view.getUint32(at + high, little) !== 0 || low >= lps) {
      return 'expected a model’s sample: its LP does not exist';
    }
    if (!isTime(view.getFloat64(at + 8, little))) return 'real time is no time';
    if (!(view.getFloat64(at + 16, little) >= 0)) return 'GVT is no time';
    const mode = view.getInt32(at + 24, little);
    return mode === 1 || mode === 2 ? '' : `sampling mode ${mode}; there are 1 (GVT) and 2 (RT)`;
  };
  const bytes = OLD_MODEL_HEAD + payload;
  return {
    era: `ROSS 2017-06 to 2017-07, models’ samples (${OLD_MODEL_HEAD} bytes and ${payload} of the model)`,
    little,
    kinds: OLD_MODEL_KINDS,
    walk: fixedWalk(MODEL, bytes, payload, fault),
    reset: () => {},
    mostEntries: 1,
    stride: bytes,
    least: bytes,
    mode: null,
  };
}
