/**
 * The layouts that ROSS's instrumentation files have had, by the name of the first version that wrote them.
 *
 * `ross-7`: v7.0.0 to v8.0.0, framed, 36 bytes for an LP; what the project's documentation describes.
 * `ross-8.1`: v8.1.0 on; the same except for an LP's 48 bytes, of which 12 hold nothing.
 * `ross-2017`: June and July 2017, packed records without frames; GVT samples have a real time, and net events beside
 * efficiency.
 * `ross-2017-04`: April 2017, the same without these two: exactly the columns that the documentation of the time lists.
 */
export const ROSS_LAYOUTS = ['ross-7', 'ross-8.1', 'ross-2017', 'ross-2017-04'] as const;

/** An era's layout of samples, by its name. */
export type RossLayout = (typeof ROSS_LAYOUTS)[number];

/**
 * Whether a text names a layout.
 * @example
 * ```ts
 * import { isRossLayout } from 'triscope/formats';
 *
 * isRossLayout('ross-8.1'); // true
 * ```
 */
export const isRossLayout = (name: string): name is RossLayout =>
  (ROSS_LAYOUTS as readonly string[]).includes(name);

/** Layouts of packed records, whose files do not describe themselves. */
export type PackedLayout = Extract<RossLayout, `ross-2017${string}`>;

/**
 * Whether records of the layout are packed: they have no heads that say what they are.
 * @example
 * ```ts
 * import { isPacked } from 'triscope/formats';
 *
 * isPacked('ross-2017'); // true
 * ```
 */
export const isPacked = (layout: RossLayout): layout is PackedLayout =>
  layout === 'ross-2017' || layout === 'ross-2017-04';

/**
 * Something that a layout has no place for. The message is for the user.
 * @example
 * ```ts
 * import { LayoutError, rowWords } from 'triscope/formats';
 *
 * try {
 *   rowWords(Int32Array.of(99), 0); // there is no row of kind 99
 * } catch (error) {
 *   if (error instanceof LayoutError) console.error(error.message);
 * }
 * ```
 */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';
}

/** Bytes of a frame before each sample of the framed layouts. */
export const FRAME_BYTES = 24;
/** Bytes after the frame, by kind: PE, KP, LP (see `lpBytes`), model metadata. */
export const PE_BYTES = 104;
export const KP_BYTES = 44;
export const MODEL_BYTES = 24;
/** Bytes before a model's sample in virtual time; such a sample has no frame. */
export const VT_MODEL_BYTES = 48;

/** Bytes of an LP's sample after its frame. */
export const lpBytes = (layout: RossLayout) => (layout === 'ross-8.1' ? 48 : 36);

/** Whether this machine puts a number's low byte first. ROSS writes as the machine does, and so do we. */
export const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
