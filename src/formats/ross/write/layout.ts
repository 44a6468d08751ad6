/**
 * The layouts that ROSS's instrumentation files have had, by the name of the first version that wrote them.
 *
 * `ross-7`: v7.0.0 to v8.0.0, framed, 36 bytes for an LP; what the project's documentation describes.
 * `ross-8.1`: v8.1.0 on; the same but for an LP's 48 bytes, of which 12 hold nothing.
 * `ross-2017`: packed records without frames. Of its two forms this is that of June and July 2017, because only it
 * has a real time in GVT samples and net events beside efficiency; the form before it is that less those columns.
 */
export const ROSS_LAYOUTS = ['ross-7', 'ross-8.1', 'ross-2017'] as const;

export type RossLayout = (typeof ROSS_LAYOUTS)[number];

/** Something that a layout has no place for. The message is for the user. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';
}

/** Bytes of a frame before each sample of the framed layouts. */
export const FRAME = 24;
/** Bytes after the frame, by kind: PE, KP, LP (see `lpBytes`), model metadata. */
export const PE_BYTES = 104;
export const KP_BYTES = 44;
export const MODEL_BYTES = 24;
/** Bytes before a model's sample in virtual time; such a sample has no frame. */
export const VT_MODEL = 48;

/** Bytes of an LP's sample after its frame. */
export const lpBytes = (layout: RossLayout) => (layout === 'ross-8.1' ? 48 : 36);

/** Whether this machine puts a number's low byte first. ROSS writes as the machine does, and so do we. */
export const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
